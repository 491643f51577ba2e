"""One layout, one file.

A file declares

- `NAME` and `EXAMPLE`: what people call the layout, and the text of a tiny file;
- `matches(head)`: whether a file belongs to it, by the names in its head alone
  (`engine.traces.head.Head`). The canonical CSV and then any other table are
  asked last;
- `parse(opened, reading)`: the requests, as `Requests`; a bad row is set aside, or
  an error if strict. Most need no more than `engine.traces.log.read_log` with
  the fields that rows are asked for.

Nothing else has to be touched to add one.
"""
