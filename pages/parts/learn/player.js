// Plays films of runs (engine/film.py): draws one frame, and moves between frames.
// Every number and every sentence comes with the data; nothing is computed here but places.

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { left: 52, right: 14, top: 22, bottom: 40 };
const HEIGHT = 300, PACE = 650; // pixels; milliseconds a round
const ICONS = { // paths in a box of 24, so that no font has to have the signs
  start: "M6 5h2v14H6zM20 5v14L9 12z", back: "M16 5v14L6 12z", on: "M8 5v14l10-7z",
  play: "M8 5v14l11-7z", pause: "M6 5h4v14H6zM14 5h4v14h-4z",
};
const players = new WeakMap();

function make(tag, attributes, parent, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

function drawIcon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  make("path", { d: ICONS[name], fill: "currentColor" }, svg);
  return svg;
}

function hint(node, text) { make("title", {}, node, text); }

function inkOn(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#10222e" : "#ffffff";
}

function scales(film, rounds, width) {
  const column = (width - MARGIN.left - MARGIN.right) / rounds;
  const row = (HEIGHT - MARGIN.top - MARGIN.bottom) / film.top;
  return {
    column, row,
    x: (round) => MARGIN.left + column * (round - 1), // left edge of a round's column
    y: (tokens) => HEIGHT - MARGIN.bottom - row * tokens,
  };
}

function every(span, most) { // a step of 1, 2, 5, 10, .. that gives at most so many ticks
  let step = 1;
  for (let k = 0; span / step > most; k++) step *= [2, 2.5, 2][k % 3];
  return step;
}

function drawAxes(svg, film, rounds, place) {
  const grid = { stroke: "currentColor", "stroke-opacity": 0.12 };
  const tokens = every(film.top, 8);
  for (let level = 0; level <= film.top; level += tokens) {
    make("line", { x1: place.x(1), x2: place.x(rounds + 1), y1: place.y(level), y2: place.y(level), ...grid }, svg);
    make("text", { x: MARGIN.left - 8, y: place.y(level) + 4, "text-anchor": "end" }, svg, level);
  }
  const step = every(rounds, Math.max(4, (place.column * rounds) / 45));
  for (let round = 1; round <= rounds; round += step) {
    make("text", { x: place.x(round) + place.column / 2, y: HEIGHT - MARGIN.bottom + 17, "text-anchor": "middle" }, svg, round);
  }
  make("text", { x: place.x(rounds + 1), y: HEIGHT - 4, "text-anchor": "end" }, svg, "round (memory at its end)");
  make("text", { x: 0, y: 12 }, svg, "tokens");
}

function drawPast(svg, film, now, place) {
  const named = place.column >= 24;
  for (let round = 1; round <= Math.min(now, film.rounds); round++) {
    let below = 0;
    film.held[round].forEach((tokens, i) => {
      if (!tokens) return;
      const request = film.requests[i];
      const height = place.row * tokens;
      const box = make("rect", {
        x: place.x(round), y: place.y(below + tokens), width: place.column, height,
        fill: request.colour, stroke: "var(--st-background-color)", "stroke-width": 1,
      }, svg);
      hint(box, `round ${round}: ${request.name} holds ${tokens} tokens (${request.detail})`);
      if (named && height >= 13) {
        make("text", {
          class: "name", x: place.x(round) + place.column / 2, y: place.y(below + tokens / 2) + 4,
          "text-anchor": "middle", style: `fill: ${inkOn(request.colour)}`,
        }, svg, request.name);
      }
      below += tokens;
    });
  }
}

function drawPlan(svg, film, frame, now, place) {
  frame.planned.forEach((tokens, k) => {
    const box = make("rect", {
      x: place.x(now + 1 + k), y: place.y(tokens), width: place.column, height: place.row * tokens,
      fill: "currentColor", "fill-opacity": 0.1, stroke: "currentColor", "stroke-opacity": 0.3,
      "stroke-dasharray": "3 3",
    }, svg);
    hint(box, `round ${now + 1 + k}: planned, ${tokens} tokens if nobody else starts`);
  });
  if (!frame.check) return;
  const { head, holds, full_at, missing } = frame.check;
  holds.forEach((own, k) => {
    const round = now + 1 + k, base = frame.planned[k] || 0;
    if (round > film.shown) return;
    const over = round === full_at;
    const box = make("rect", {
      x: place.x(round) + 1, y: place.y(base + own), width: Math.max(1, place.column - 2), height: place.row * own,
      fill: "var(--limit)", "fill-opacity": over ? 0.35 : 0.08, stroke: "var(--limit)",
      "stroke-width": over ? 2.5 : 1, "stroke-dasharray": over ? "none" : "4 3",
    }, svg);
    hint(box, `round ${round}: with ${film.requests[head].name}, ${base + own} tokens`);
  });
  const at = place.x(full_at) + place.column / 2;
  const half = 60; // of the words' width, so that they stay within the picture
  const middle = Math.min(Math.max(at, MARGIN.left + half), place.x(film.shown + 1) - half);
  make("text", { class: "over", x: middle, y: 12, "text-anchor": "middle" }, svg, `${film.requests[head].name}: +${missing} over M`);
}

function drawFilm(film, frame, now, width) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.setAttribute("height", HEIGHT);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${film.title}. ${frame.told}`);
  const place = scales(film, film.shown, width);
  drawAxes(svg, film, film.shown, place);
  drawPlan(svg, film, frame, now, place);
  drawPast(svg, film, now, place);
  const level = place.y(film.memory);
  make("line", { x1: place.x(1), x2: place.x(film.shown + 1), y1: level, y2: level, stroke: "var(--limit)", "stroke-width": 2 }, svg);
  make("text", { class: "memory", x: place.x(film.shown + 1), y: level - 5, "text-anchor": "end" }, svg, `M = ${film.memory}`);
  const edge = place.x(Math.min(now, film.shown) + 1);
  make("line", { x1: edge, x2: edge, y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom, stroke: "var(--st-primary-color)", "stroke-width": 2 }, svg);
  return svg;
}

function drawQueue(film, frame) {
  const line = document.createElement("div");
  line.className = "queue";
  line.append(frame.waiting.length ? "Waiting, in order:" : "Nobody waits.");
  frame.waiting.forEach((i) => {
    const chip = document.createElement("span"), request = film.requests[i];
    chip.className = frame.check && frame.check.head === i ? "chip head" : "chip";
    chip.style.background = request.colour;
    chip.style.color = inkOn(request.colour);
    chip.textContent = request.name;
    chip.title = request.detail;
    line.append(chip);
  });
  return line;
}

class Scene { // one film on the page: only what a frame changes is drawn again
  constructor(film, root) {
    this.film = film;
    this.title = document.createElement("h3");
    this.title.textContent = film.title;
    this.picture = document.createElement("div");
    this.told = document.createElement("p");
    this.told.className = "told";
    this.queue = document.createElement("div");
    const box = document.createElement("section");
    box.className = "film";
    box.append(this.title, this.picture, this.told, this.queue);
    root.append(box);
  }

  draw(now, width, playing) {
    const frame = this.film.frames[Math.min(now, this.film.rounds)];
    this.picture.replaceChildren(drawFilm(this.film, frame, now, width));
    this.queue.replaceChildren(drawQueue(this.film, frame));
    this.told.setAttribute("aria-live", playing ? "off" : "polite");
    if (this.told.textContent !== frame.told) this.told.textContent = frame.told;
  }
}

class Player {
  constructor(root, films) {
    this.root = root;
    this.films = films;
    this.last = Math.max(...films.map((film) => film.rounds));
    this.now = 0;
    this.timer = null;
    this.build();
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.root);
  }

  build() {
    this.root.replaceChildren();
    const controls = document.createElement("div");
    controls.className = "controls";
    controls.setAttribute("role", "group");
    controls.setAttribute("aria-label", "Step through the rounds");
    const button = (label, icon, act, text = "") => {
      const made = document.createElement("button");
      made.type = "button";
      made.setAttribute("aria-label", label);
      made.title = label;
      made.append(drawIcon(icon), text);
      made.onclick = act;
      controls.append(made);
      return made;
    };
    button("To the start", "start", () => this.jump(0));
    button("One round back", "back", () => this.jump(this.now - 1));
    this.play = button("Play", "play", () => this.toggle(), "Play");
    button("One round on", "on", () => this.jump(this.now + 1));
    this.slider = Object.assign(document.createElement("input"), { type: "range", min: 0, max: this.last, value: 0 });
    this.slider.setAttribute("aria-label", "Round");
    this.slider.oninput = () => this.jump(Number(this.slider.value));
    this.count = document.createElement("output");
    controls.append(this.slider, this.count);
    this.root.append(controls);
    this.scenes = this.films.map((film) => new Scene(film, this.root));
    this.root.onkeydown = (event) => this.press(event);
  }

  press(event) {
    if (event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    const moves = { ArrowRight: 1, ArrowLeft: -1 };
    const onButton = event.target.tagName === "BUTTON";
    if (event.key in moves) this.jump(this.now + moves[event.key]);
    else if (event.key === "Home") this.jump(0);
    else if (event.key === "End") this.jump(this.last);
    else if (event.key === " " && !onButton) this.toggle();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  jump(round) {
    this.stop();
    this.show(round);
  }

  show(round) {
    this.now = Math.max(0, Math.min(this.last, round));
    this.slider.value = this.now;
    this.draw();
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.now === this.last) this.show(0);
    this.label("Pause", "pause");
    this.timer = setInterval(() => {
      this.show(this.now + 1);
      if (this.now === this.last) this.stop();
    }, PACE);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.label("Play", "play");
  }

  label(text, icon) {
    this.play.replaceChildren(drawIcon(icon), text);
    this.play.setAttribute("aria-label", text);
    this.play.title = text;
  }

  draw() {
    const width = this.root.clientWidth;
    if (!width) return;
    const said = `round ${this.now} of ${this.last}`;
    this.count.textContent = said;
    this.slider.setAttribute("aria-valuetext", said);
    for (const scene of this.scenes) scene.draw(this.now, width, this.timer !== null);
  }

  end() {
    this.stop();
    this.watch.disconnect();
  }
}

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".player");
  root.style.setProperty("--limit", data.limit);
  const before = players.get(root);
  if (!before || before.key !== data.key) {
    if (before) before.player.end();
    players.set(root, { key: data.key, player: new Player(root, data.films) });
  }
  return () => {
    const last = players.get(root);
    if (last) last.player.end();
    players.delete(root);
  };
}
