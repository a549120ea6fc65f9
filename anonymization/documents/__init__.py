"""Office files, mail, pages, PDFs and pictures: masked in place, admitted, or rejected."""
