// How the service does: state, rates, lag, times, snapshots, sinks, warnings.
import type { ComponentChildren } from "preact";
import { Chart, type Line } from "./chart";
import { type Json, asNumber, field, isObject, plain } from "./json";
import { type Sample, type Service, isShared, lags, rate } from "./service";
import { type Zone, bytes, count, duration, shown, time, zoneName } from "./text";

function perSecond(total: (sample: Sample) => number): Line["value"] {
  return (sample, before) => {
    if (!before || sample.at <= before.at) return undefined;
    return Math.max(0, (total(sample) - total(before)) / (sample.at - before.at));
  };
}

const lines: Line[] = [
  { title: "updates per second", value: perSecond((sample) => sample.updates), show: count },
  { title: "alerts per second", value: perSecond((sample) => sample.alerts), show: count },
  { title: "records behind Kafka", value: (sample) => sample.lag, show: count },
  { title: "time of a batch", value: (sample) => sample.batch, show: duration },
];

function Card({ title, value, hint, bad }: { title: string; value: ComponentChildren; hint?: ComponentChildren; bad?: boolean }) {
  return (
    <div class={bad ? "card bad" : "card"}>
      <dt>{title}</dt>
      <dd>{value}</dd>
      {hint !== undefined && hint !== "" && <p>{hint}</p>}
    </div>
  );
}

function entries(value: Json | undefined): [string, Json][] {
  return isObject(value) ? Object.entries(value) : [];
}

/** Which worker has which slot, and what of it is published. */
function Slots({ worker }: { worker: Json | undefined }) {
  const slots = field(worker, "slots");
  const cut = asNumber(field(worker, "cut")) ?? 0;
  const own = plain(field(worker, "name"));
  if (!Array.isArray(slots)) return null;
  return (
    <>
      <h2>Slots</h2>
      <div class="scroll">
        <table class="slots">
          <thead>
            <tr>
              <th scope="col">slot</th>
              <th scope="col">worker</th>
              <th scope="col">published to batch</th>
              <th scope="col">batches behind</th>
            </tr>
          </thead>
          <tbody>
            {slots.map((slot) => {
              const published = asNumber(field(slot, "published")) ?? 0;
              const name = plain(field(slot, "worker"));
              return (
                <tr key={plain(field(slot, "slot"))}>
                  <td class="value">{plain(field(slot, "slot"))}</td>
                  <td>
                    {name === "" ? "nobody yet" : shown(name)}
                    {name === own && <span class="quiet"> this one</span>}
                  </td>
                  <td class="value">{count(published)}</td>
                  <td class="value">{count(Math.max(0, cut - published))}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}

export function Health({ service, zone, theme }: { service: Service; zone: Zone; theme: string }) {
  const { status, samples } = service;
  if (status === null) return <p class="empty">The service has not answered yet.</p>;
  const number = (...path: string[]) => asNumber(path.reduce<Json | undefined>((value, name) => field(value, name), status));
  const text = (...path: string[]) => plain(path.reduce<Json | undefined>((value, name) => field(value, name), status));
  const updates = rate(samples, 10, (sample) => sample.updates);
  const lag = lags(status);
  const behind = lag.reduce((sum, [, each]) => sum + (each ?? 0), 0);
  const age = number("snapshot", "age");
  const refused = number("refused", "records") ?? 0;
  const median = number("batches", "median");
  const waiting = number("queue", "batches");
  const sinks = entries(field(status, "sinks"));
  const warnings = field(status, "warnings");
  const slow = field(status, "under_way");
  const shared = isShared(status);
  const worker = field(status, "worker");
  const slots = field(worker, "slots");
  const names = new Set(Array.isArray(slots) ? slots.map((slot) => plain(field(slot, "worker"))).filter((name) => name !== "") : []);
  const columns = shared ? ["committed"] : ["committed", "read", "end", "lag"];
  const unpublished = (number("worker", "cut") ?? 0) - (number("worker", "published") ?? 0);
  return (
    <div class="health">
      {service.notReady !== "" && (
        <p class="note bad" role="alert">
          {service.notReady}
        </p>
      )}
      {slow !== undefined && (
        <p class="note">
          Batch {plain(field(slow, "batch"))} is matched for {duration(asNumber(field(slow, "seconds")) ?? 0)}; most of the time goes to{" "}
          {shown(plain(field(slow, "query")))}.
        </p>
      )}
      <dl class="cards">
        <Card title="state" value={text("state")} hint={text("doing") || (service.notReady === "" ? "ready" : "not ready")} bad={service.notReady !== ""} />
        <Card title="updates per second" value={updates === undefined ? "–" : count(updates)} hint={`${count(number("updates") ?? 0)} since the start`} />
        {shared && (
          <Card
            title="workers with slots"
            value={count(names.size)}
            hint={`this one ${text("worker", "leads") === "true" ? "leads" : "follows"}${names.has(text("worker", "name")) ? "" : ", and has no slot"}`}
          />
        )}
        {shared && <Card title="published" value={`batch ${text("worker", "published")}`} hint={`${count(unpublished)} more ${unpublished === 1 ? "is" : "are"} cut`} />}
        {!shared && (
          <>
            <Card
              title="behind Kafka"
              value={lag.length === 0 ? "–" : `${count(behind)} records`}
              hint={updates !== undefined && updates > 0 && behind > 0 ? `about ${duration(behind / updates)} at this rate` : `${lag.length} ${lag.length === 1 ? "partition" : "partitions"}`}
            />
            <Card
              title="time of a batch"
              value={median === undefined ? "–" : duration(median)}
              hint={median === undefined ? "" : `median of the last ${text("batches", "of")}; 99\u00a0% within ${duration(number("batches", "p99") ?? 0)}`}
            />
            <Card title="waiting for the commit" value={waiting === undefined ? "–" : `${count(waiting)} ${waiting === 1 ? "batch" : "batches"}`} hint={`batch ${text("batch")} is committed`} />
            <Card title="age of the snapshot" value={age === undefined ? "none yet" : duration(age)} hint={`of batch ${text("snapshot", "batch")}; ${text("snapshot", "failures")} failed`} bad={(number("snapshot", "failures") ?? 0) > 0} />
          </>
        )}
        <Card title="graph" value={`${count(number("graph", "edges") ?? 0)} edges`} hint={`${count(number("graph", "vertices") ?? 0)} vertices, ${bytes(number("graph", "bytes") ?? 0)}`} />
        <Card title="watermark" value={text("time") === "" ? "none" : time(text("time"), zone)} hint={text("time") === "" ? "the stream has no times" : zoneName(zone)} />
        {!shared && <Card title="refused records" value={count(refused)} hint={refused > 0 ? shown(text("refused", "last")) : `of the last ${count(number("refused", "of") ?? 0)}`} bad={refused > 0} />}
        <Card title="open pages" value={`${text("alerts", "streams")} of ${text("alerts", "most_streams")}`} hint={`${text("alerts", "refused_streams")} refused, ${text("alerts", "cut_off")} cut off`} />
      </dl>
      <div class="charts">
        {(shared ? lines.slice(0, 1) : lines).map((line) => (
          <Chart key={line.title} line={line} samples={samples} theme={theme} zone={zone} />
        ))}
      </div>
      {shared && <Slots worker={worker} />}
      <h2>Partitions</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">partition</th>
              {columns.map((each) => (
                <th key={each} scope="col">
                  {each === "lag" ? "behind" : each}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {entries(field(status, "partitions")).map(([name, at]) => (
              <tr key={name}>
                <td>{shown(name)}</td>
                {columns.map((each) => (
                  <td key={each} class="value">
                    {plain(field(at, each)) || "–"}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h2>Sinks</h2>
      {sinks.length === 0 ? (
        <p class="quiet">All sinks are in Kafka: their alerts are a part of each commit, so none is behind.</p>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">sink</th>
                <th scope="col">alerts</th>
                <th scope="col">batches behind</th>
                <th scope="col">failures</th>
                <th scope="col">given up</th>
                <th scope="col">last error</th>
              </tr>
            </thead>
            <tbody>
              {sinks.map(([name, sink]) => (
                <tr key={name} class={(asNumber(field(sink, "undelivered")) ?? 0) > 0 ? "bad" : ""}>
                  <td>{shown(name)}</td>
                  {["alerts", "undelivered", "failures", "dropped"].map((each) => (
                    <td key={each} class="value">
                      {count(asNumber(field(sink, each)) ?? 0)}
                    </td>
                  ))}
                  <td>{shown(plain(field(sink, "last_error")))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {Array.isArray(warnings) && warnings.length > 0 && (
        <>
          <h2>Warnings</h2>
          <ul class="warnings">
            {warnings.map((warning, at) => (
              <li key={at}>
                <strong>{shown(plain(field(warning, "where")))}</strong> {shown(plain(field(warning, "what")))}
                <br />
                <span class="quiet">{shown(plain(field(warning, "remedy")))}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
