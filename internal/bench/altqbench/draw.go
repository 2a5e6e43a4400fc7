package altqbench

import (
	"errors"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Size of the picture.
const (
	panelColumns = 2
	panelWidth   = 12 * vg.Centimeter
	panelHeight  = 5.5 * vg.Centimeter
	panelGap     = 0.4 * vg.Centimeter
)

// formats are the kinds of pictures by the ends of their names.
var formats = map[string]func(w, h vg.Length) vg.CanvasWriterTo{
	".png": func(w, h vg.Length) vg.CanvasWriterTo { return vgimg.PngCanvas{Canvas: vgimg.New(w, h)} },
	".svg": func(w, h vg.Length) vg.CanvasWriterTo {
		return vgsvg.NewWith(vgsvg.UseWH(w, h), vgsvg.EmbedFonts(true))
	},
}

// errFormat: no such kind.
var errFormat = errors.New("pictures are .png or .svg")

// CheckPicture says whether [Result.Draw] knows what the name of a file asks for.
func CheckPicture(file string) error {
	if ext := filepath.Ext(file); ext != "" && formats[strings.ToLower(ext)] == nil {
		return fmt.Errorf("%s: %w", file, errFormat)
	}
	return nil
}

// Draw writes the throughput of each class over time into a file, whose name ends in .png
// or .svg, or into two with these ends added to the name.
func (r *Result) Draw(file string) error {
	if err := CheckPicture(file); err != nil {
		return err
	}
	if len(r.Panels) == 0 {
		return errors.New("nothing to draw")
	}
	if ext := filepath.Ext(file); ext != "" {
		return r.drawAs(file, strings.ToLower(ext))
	}
	return errors.Join(r.drawAs(file+".png", ".png"), r.drawAs(file+".svg", ".svg"))
}

// drawAs writes one file.
func (r *Result) drawAs(file, ext string) (err error) {
	rows := (len(r.Panels) + panelColumns - 1) / panelColumns
	c := formats[ext](panelColumns*panelWidth, vg.Length(rows)*panelHeight)
	if err := r.tile(draw.New(c), rows); err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = c.WriteTo(f)
	return err
}

// tile draws the panels in rows.
func (r *Result) tile(dc draw.Canvas, rows int) error {
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, panelColumns)
	}
	for i := range r.Panels {
		p, err := r.Panels[i].plot()
		if err != nil {
			return err
		}
		grid[i/panelColumns][i%panelColumns] = p
	}
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
	tiles := draw.Tiles{
		Cols: panelColumns, Rows: rows, PadX: panelGap, PadY: panelGap,
		PadTop: panelGap, PadBottom: panelGap, PadLeft: panelGap, PadRight: panelGap,
	}
	for i, row := range plot.Align(grid, tiles, dc) {
		for j, canvas := range row {
			if p := grid[i][j]; p != nil {
				p.Draw(canvas)
			}
		}
	}
	return nil
}

// plot is one panel: a line a class.
func (p *Panel) plot() (*plot.Plot, error) {
	const headroom, margin = 1.2, 1.2 // above what a link can, and at the right for the legend
	out := plot.New()
	out.Title.Text = p.Where + ", " + p.Title
	out.X.Label.Text, out.Y.Label.Text = "s", "Mb/s"
	out.Legend.Top = true
	out.Add(plotter.NewGrid())
	for i, s := range p.Series {
		points := make(plotter.XYs, len(s.Mbps))
		for j, v := range s.Mbps {
			points[j] = plotter.XY{X: float64(j) * p.Bin.Seconds(), Y: v}
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return nil, fmt.Errorf("drawing %s of %s: %w", s.Class, p.Title, err)
		}
		line.Color, line.Width = plotutil.Color(i), vg.Points(1.5)
		out.Add(line)
		out.Legend.Add(s.Class, line)
	}
	out.X.Max *= margin
	out.Y.Min, out.Y.Max = 0, linkMbps*headroom
	return out, nil
}
