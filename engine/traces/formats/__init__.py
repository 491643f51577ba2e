"""One layout, one file.

A file declares

- `NAME` and `HEADER`: what people call the layout, and a header line it has;
- `matches(header)`: whether a first line belongs to it. The canonical CSV is
  asked last;
- `parse(text, header, strict)`: the requests, as `Requests`; `text` stands at the
  first row, a bad row is set aside, or an error if strict.

Nothing else has to be touched to add one.
"""
