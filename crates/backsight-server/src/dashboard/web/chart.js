// Lines over time or over hits, drawn by uPlot, which is loaded when the first one is shown. What it shows is in the page as text
// too, so that nothing is only to be seen.
import { useEffect, useRef } from './vendor.js';
import { html } from './parts.js';

/** The colours that a chart has, as they are in the theme of now. */
function colours(box) {
  const probe = box.appendChild(document.createElement('i'));
  const style = getComputedStyle(probe);
  const found = (name) => { probe.style.color = `var(--${name})`; return style.color; };
  const all = { quiet: found('quiet'), lines: found('lines'), faint: found('accent-faint'), warning: found('tone-warning'), lanes: ['a', 'c', 'b', 'd', 'f', 'e', 'h', 'g'].map((lane) => found(`lane-${lane}`)) };
  probe.remove();
  return all;
}

/**
 * Draws `lines`, each `{ name, values, isLimit, filled }`, over `x`: seconds when `time`, else numbers. `format` writes a value.
 * Drag over a part to see only that; a double click shows all of it again.
 */
export function Chart({ x, lines, label, time = false, height = 150, format = String }) {
  const box = useRef(null);
  useEffect(() => {
    let [chart, gone] = [null, false];
    const draw = (Plot) => {
      const place = box.current;
      if (gone || !place) return;
      chart?.destroy();
      const tones = colours(place);
      const axis = { stroke: tones.quiet, font: '11px system-ui, sans-serif', grid: { stroke: tones.lines, width: 1 }, ticks: { show: false } };
      const series = lines.map(({ name, isLimit, filled }, index) => ({
        label: name, width: isLimit ? 1.5 : 2, dash: isLimit ? [6, 5] : undefined, stroke: isLimit ? tones.warning : tones.lanes[index % tones.lanes.length], fill: filled ? tones.faint : undefined,
        points: { show: x.length < 40 && !isLimit, size: 5 }, value: (_, value) => (value === null || value === undefined ? '' : format(value)),
      }));
      chart = new Plot({
        width: place.clientWidth, height, legend: { live: true }, scales: { x: { time }, y: { range: (_, low, high) => (low === high ? [Math.min(0, low), high || 1] : [time ? 0 : low, high + (high - low) * 0.06]) } },
        axes: [{ ...axis, size: 26, ...(time ? {} : { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000] }) }, { ...axis, size: 66, values: (_, values) => values.map(format) }],
        series: [{ label: time ? 'when' : 'hit', value: time ? '{YYYY}-{MM}-{DD} {HH}:{mm}' : (_, value) => value ?? '' }, ...series],
      }, [x, ...lines.map(({ values }) => values)], place);
    };
    let known;
    const again = () => known && draw(known);
    const resized = new ResizeObserver(() => { if (chart && box.current && box.current.clientWidth !== chart.width) chart.setSize({ width: box.current.clientWidth, height }); });
    const theme = new MutationObserver(again);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    import('./uplot.js').then(({ default: Plot }) => { known = Plot; draw(Plot); });
    resized.observe(box.current);
    theme.observe(document.documentElement, { attributes: true });
    dark.addEventListener('change', again);
    return () => { gone = true; resized.disconnect(); theme.disconnect(); dark.removeEventListener('change', again); chart?.destroy(); };
  }, [JSON.stringify([x, lines])]);
  return html`<div class="chart" ref=${box} role="group" aria-label=${label}></div>`;
}
