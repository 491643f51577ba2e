CREATE TABLE public.sweeps (
    sweep character varying(64) NOT NULL,
    part integer NOT NULL,
    used timestamp with time zone NOT NULL,
    size integer NOT NULL,
    cells text NOT NULL
);
CREATE TABLE public.views (
    id integer NOT NULL,
    name character varying(130) NOT NULL,
    saved timestamp with time zone NOT NULL,
    view text NOT NULL
);
CREATE SEQUENCE public.views_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.views_id_seq OWNED BY public.views.id;
ALTER TABLE ONLY public.views ALTER COLUMN id SET DEFAULT nextval('public.views_id_seq'::regclass);
INSERT INTO public.sweeps VALUES ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 0, '2026-12-01 05:04:06.130148+00', 2, '[]');
INSERT INTO public.views VALUES (1, 'plan', '2026-12-01 05:04:06.088168+00', '{
 "format": "headroom view 1",
 "name": "plan",
 "page": "Latency",
 "settings": {
  "n": [
   "120"
  ],
  "classic": [
   "vllm",
   "fcfs"
  ]
 },
 "title": "120 requests",
 "facts": {
  "M (tokens)": 16492,
  "clock": "rounds",
  "policies": [
   "svf"
  ]
 },
 "results": [
  {
   "policy": "svf",
   "load": "stable",
   "gap": 1.2,
   "mean_latency": 30.0,
   "p50_latency": 20.0,
   "p90_latency": 50.0,
   "p99_latency": 90.0,
   "mean_ttft": 9.0,
   "makespan": 400.0
  }
 ],
 "unit": "rounds",
 "engine": "1.0",
 "trace": ""
}');
INSERT INTO public.views VALUES (4, 'plan (2)', '2026-12-01 05:04:06.128465+00', '{
 "format": "headroom view 1",
 "name": "plan (2)",
 "page": "Compare",
 "settings": {
  "n": [
   "120"
  ],
  "classic": [
   "vllm",
   "fcfs"
  ]
 },
 "title": "\u00e4 \u2013 240 requests",
 "facts": {
  "M (tokens)": 16492,
  "clock": "rounds",
  "policies": [
   "svf"
  ]
 },
 "results": [
  {
   "policy": "svf",
   "load": "stable",
   "gap": 1.2,
   "mean_latency": 30.0,
   "p50_latency": 20.0,
   "p90_latency": 50.0,
   "p99_latency": 90.0,
   "mean_ttft": 9.0,
   "makespan": 400.0
  }
 ],
 "unit": "rounds",
 "engine": "1.0",
 "trace": ""
}');
INSERT INTO public.views VALUES (5, 'of another version', '2026-12-01 05:04:06.129909+00', '{"format": "headroom view 0"}');
SELECT pg_catalog.setval('public.views_id_seq', 5, true);
ALTER TABLE ONLY public.sweeps
    ADD CONSTRAINT sweeps_pkey PRIMARY KEY (sweep, part);
ALTER TABLE ONLY public.views
    ADD CONSTRAINT views_name_key UNIQUE (name);
ALTER TABLE ONLY public.views
    ADD CONSTRAINT views_pkey PRIMARY KEY (id);
CREATE INDEX ix_sweeps_used ON public.sweeps USING btree (used);
