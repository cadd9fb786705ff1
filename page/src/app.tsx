// The page: its head, its views, and the state that they share.
import { useEffect, useState } from "preact/hooks";
import { Admin } from "./admin";
import { Alerts } from "./alerts";
import { AlertStream, type Feed } from "./feed";
import { Health } from "./health";
import { field, plain } from "./json";
import { Queries, QueryList } from "./queries";
import { type Service, ServiceWatch, isShared, queryNames } from "./service";
import { remembered, useStore } from "./store";
import { type Zone, duration, localZone, shown } from "./text";

const stream = new AlertStream();
const watch = new ServiceWatch();
const admin = new Admin();
const list = new QueryList(admin);
const zones = remembered<Zone>("zone", "UTC", ["UTC", "local"]);
const themes = remembered("theme", "system", ["system", "light", "dark"]);

const views = ["alerts", "queries", "health"] as const;
type View = (typeof views)[number];

function viewOf(hash: string): View {
  return views.find((view) => `#${view}` === hash) ?? "alerts";
}

function useView(): View {
  const [view, setView] = useState(viewOf(location.hash));
  useEffect(() => {
    const follow = () => setView(viewOf(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return view;
}

/** Renders again every second, for what is counted in seconds. */
function useClock(on: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!on) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [on]);
  return now;
}

function Banner({ service, feed }: { service: Service; feed: Feed }) {
  const troubled = service.failed > 0 || feed.connection === "lost" || feed.connection === "refused";
  const now = useClock(troubled || service.restarted > 0);
  if (service.failed > 0) {
    return (
      <div class="banner" role="alert">
        The service has not answered for {duration((now - service.failed) / 1000)}. What is shown is from before; the page tries again
        by itself.
      </div>
    );
  }
  if (feed.connection === "refused") {
    return (
      <div class="banner" role="alert">
        The service refuses the stream of alerts: {feed.why}. The page tries again by itself.
        <button type="button" onClick={() => stream.retry()}>
          Try now
        </button>
      </div>
    );
  }
  if (feed.connection === "lost") {
    return (
      <div class="banner" role="alert">
        The stream of alerts is interrupted. The page connects again by itself.
      </div>
    );
  }
  if (service.restarted > 0 && now - service.restarted < 15_000)
    return (
      <div class="banner calm" role="status">
        The service has started again; the page is connected.
      </div>
    );
  return null;
}

function State({ service, feed }: { service: Service; feed: Feed }) {
  const state = plain(field(service.status, "state"));
  if (service.failed > 0) return <span class="pill bad">no answer</span>;
  if (state === "") return <span class="pill quiet">connecting</span>;
  if (service.notReady !== "") return <span class="pill bad">{state}, not ready</span>;
  const live = state === "running" && feed.connection === "live";
  return <span class={live ? "pill good" : "pill quiet"}>{live ? "running, live" : state}</span>;
}

export function App() {
  const view = useView();
  const service = useStore(watch.store);
  const feed = useStore(stream.store);
  const zone = useStore(zones);
  const theme = useStore(themes);
  const queries = useStore(list.store);
  useEffect(() => {
    watch.start();
    stream.start();
    list.start();
  }, []);
  useEffect(() => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
  const application = plain(field(service.status, "application"));
  useEffect(() => {
    document.title = application === "" ? "deltamatch" : `${application} – deltamatch`;
  }, [application]);
  const standing = queryNames(service.status);
  useEffect(() => list.refresh(), [standing.join("\u0000")]);
  return (
    <>
      <header class="top">
        <h1>{application === "" ? "deltamatch" : shown(application)}</h1>
        <nav aria-label="Views">
          {views.map((each) => (
            <a key={each} href={`#${each}`} aria-current={each === view ? "page" : undefined}>
              {each.charAt(0).toUpperCase() + each.slice(1)}
            </a>
          ))}
        </nav>
        <div class="right">
          <State service={service} feed={feed} />
          <label>
            Times{" "}
            <select name="zone" value={zone} onChange={(event) => zones.set(event.currentTarget.value as Zone)}>
              <option value="UTC">UTC</option>
              <option value="local">{localZone}</option>
            </select>
          </label>
          <label>
            Theme{" "}
            <select name="theme" value={theme} onChange={(event) => themes.set(event.currentTarget.value as "system")}>
              <option value="system">system</option>
              <option value="light">light</option>
              <option value="dark">dark</option>
            </select>
          </label>
        </div>
      </header>
      <Banner service={service} feed={feed} />
      <main>
        {view === "alerts" && <Alerts stream={stream} names={standing} counted={queries.counted} shared={isShared(service.status)} zone={zone} />}
        {view === "queries" && <Queries list={list} admin={admin} service={service} />}
        {view === "health" && <Health service={service} zone={zone} theme={theme} />}
      </main>
      <footer>
        deltamatch {plain(field(service.status, "version"))} · <a href="licences.txt">licences of what this page holds</a> ·{" "}
        <a href="status">status</a> · <a href="metrics">metrics</a>
      </footer>
    </>
  );
}
