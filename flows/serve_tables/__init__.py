"""The data tools of the questions lane, served over the Model Context Protocol."""
