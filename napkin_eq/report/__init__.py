"""The report: one HTML file, whole in itself, that shows what was derived, why it is right and why it is fast.

    contents  what a report shows, gathered as plain data
    errors    bounds and observed errors by family of inputs, of the plan in small
    plots     the roofline and bars, as SVG
    page      the page, by templates: page.html is all of it, sections.html what is below its head, tried.html two
              sections that take as long as to derive; style.css
"""
