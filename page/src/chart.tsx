// Lines over time.
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import type { Sample } from "./service";
import { type Zone, timeParts } from "./text";

export interface Line {
  title: string;
  value: (sample: Sample, before: Sample | undefined) => number | undefined;
  show: (value: number) => string;
}

function colour(name: string, of: Element): string {
  return getComputedStyle(of).getPropertyValue(name).trim();
}

function clock(seconds: number, zone: Zone): string {
  return timeParts(String(Math.round(seconds) * 1_000_000), zone)?.time ?? "";
}

function table(line: Line, samples: Sample[]): uPlot.AlignedData {
  const values = samples.map((sample, at) => line.value(sample, samples[at - 1]) ?? null);
  return [samples.map((sample) => sample.at), values] as uPlot.AlignedData;
}

/** Whether the system is dark. It may become so while the page is open. */
function useDark(): boolean {
  const [dark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  useEffect(() => {
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const change = () => setDark(scheme.matches);
    scheme.addEventListener("change", change);
    return () => scheme.removeEventListener("change", change);
  }, []);
  return dark;
}

export function Chart({ line, samples, theme, zone }: { line: Line; samples: Sample[]; theme: string; zone: Zone }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const dark = useDark();
  useEffect(() => {
    const box = place.current;
    if (!box) return undefined;
    const quiet = colour("--quiet", box);
    const grid = { stroke: colour("--line", box), width: 1 };
    const font = "12px system-ui, sans-serif";
    plot.current = new uPlot(
      {
        width: box.clientWidth,
        height: 130,
        cursor: { show: false },
        legend: { show: false },
        scales: { y: { range: (_, low, high) => [0, high > 0 ? high * 1.15 : Math.max(1, low)] } },
        axes: [
          { stroke: quiet, grid, ticks: grid, font, space: 75, values: (_, ticks) => ticks.map((at) => clock(at, zone)) },
          { stroke: quiet, grid, ticks: grid, font, size: 62, values: (_, ticks) => ticks.map((tick) => line.show(tick)) },
        ],
        series: [{}, { stroke: colour("--accent", box), width: 1.5, points: { show: false }, fill: colour("--wash", box) }],
      },
      table(line, samples),
      box,
    );
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: box.clientWidth, height: 130 }));
    observer.observe(box);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
    };
  }, [theme, zone, dark]);
  useEffect(() => plot.current?.setData(table(line, samples)), [samples]);
  const last = samples[samples.length - 1];
  const now = last && line.value(last, samples[samples.length - 2]);
  return (
    <figure class="chart">
      <figcaption>
        {line.title} <strong>{now === undefined ? "–" : line.show(now)}</strong>
      </figcaption>
      <div ref={place} role="img" aria-label={`${line.title}, the last ten minutes`} />
    </figure>
  );
}
