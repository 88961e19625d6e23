// The timeline of a typical step, and flame graphs.
const timeline = one('#timeline');
const start_timeline = () => {
  const ticks = one('.ticks', timeline);
  const length = Number(timeline.dataset.length);
  const time_text = seconds => seconds === 0 ? '0' : si(seconds, 's', 4);
  const draw_ticks = (left, zoom) => {
    const [from, span] = [left * length, length / zoom];
    const rough = span * 100 / Math.max(300, timeline.clientWidth);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough);
    const height = timeline.getAttribute('height');
    ticks.replaceChildren();
    for (let i = Math.floor(from / step); i * step <= Math.min(length, from + span); ++i) {
      const x = (100 * i * step / length) + '%';
      ticks.append(svg_element('line', {x1: x, x2: x, y1: 16, y2: height}));
      // A label at the right edge would be clipped.
      if ((i * step - from) * timeline.clientWidth / span < timeline.clientWidth - 44) ticks.append(svg_element('text', {x, y: 12}, time_text(i * step)));
    }
  };
  const select_row = (bar, go) => {
    const row = bar.row === undefined ? undefined : row_of.get(Number(bar.row));
    if (!row) return;
    hold(about_row(row));
    if (go) go_to_row(Number(bar.row));
  };
  const bars = start_bars(timeline, {kind: 'timeline', most: 4000, wheel: true, redraw: draw_ticks, activate: select_row});
  timeline.addEventListener('dblclick', e => {
    e.preventDefault();
    getSelection()?.removeAllRanges();
    bars?.zoom_by(e.shiftKey ? 0.5 : 2, bars.place_of(e));
  });
};
if (timeline) start_timeline();

for (const flame of all('.flame .bars')) {
  // The bars above it stay in view, because they are around it.
  const bars = start_bars(flame, {kind: 'flame graph', most: 1e6, wheel: false, activate: bar => bars.view(bar.from, 1 / bar.width)});
}

// Buttons that fold or unfold a whole tree of modules or ranges.
for (const folds of all('.folds')) {
  folds.hidden = false;
  folds.addEventListener('click', e => {
    const how = e.target.closest('[data-fold]')?.dataset.fold;
    if (how) all('details', folds.closest('section')).forEach(d => { d.open = how === 'open'; });
  });
}
