"""Pure functions from runs to plotly figures. The only place that imports plotly."""
