// Package chart draws the pictures of reports. Each picture is defined once,
// with gonum/plot, and comes out as an SVG file, as a PNG file, and as SVG to be
// put into a page, where style sheets choose the colours. The bytes are a
// function of what is drawn.
//
// Series differ in colour (Okabe and Ito's, which colour-blind readers can tell
// apart) and in the shape of their marks or the dashes of their lines.
package chart
