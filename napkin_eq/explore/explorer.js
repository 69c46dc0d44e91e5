// The page asks, the server answers with lines of JSON; what is asked for stands in the address, after the #.
'use strict';
(() => {
  const at = (id) => document.getElementById(id);
  const text = at('text'), marks = at('marks'), wrong = at('wrong'), status = at('status'), result = at('result'), drawn = at('drawn');
  const usual = { text: '', dtype: 'bfloat16', hardware: 'h200', without: [] };
  let state = { ...usual }, sizes = {}, asking = null, waiting = 0, choices = null, derivedOf = '', led = null;

  // The address.
  const coded = (value) => btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(value))))
    .replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  function decoded(hash) {
    try {
      const bytes = Uint8Array.from(atob(hash.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
      const found = JSON.parse(new TextDecoder().decode(bytes));
      return {
        text: String(found.text ?? '').slice(0, 20000), dtype: String(found.dtype ?? usual.dtype), hardware: String(found.hardware ?? usual.hardware),
        without: Array.isArray(found.without) ? found.without.map(String).slice(0, 400) : [],
      };
    } catch { return null; }
  }
  const remember = () => history.replaceState(null, '', '#' + coded(state));

  // What is shown of the state.
  function option(select, value, said) {
    const made = document.createElement('option');
    made.value = value; made.textContent = said;
    select.append(made);
  }
  function show() {
    text.value = state.text;
    at('dtype').value = state.dtype; at('hardware').value = state.hardware;
    const off = new Set(state.without);
    document.querySelectorAll('#families input').forEach((box) => {
      box.checked = !off.has(box.value) && !off.has(box.dataset.family);
      box.disabled = Boolean(box.dataset.family) && off.has(box.dataset.family);
    });
    at('off').textContent = off.size ? 'without ' + [...off].join(', ') : 'all are on';
    mark(null);
  }
  function showAxes(axes) {
    const fields = at('sizes'), names = axes.map((axis) => axis.name).join(' ');
    if (fields.dataset.names !== names) {
      fields.dataset.names = names;
      fields.querySelectorAll('label').forEach((label) => label.remove());
      for (const axis of axes) {
        const label = document.createElement('label'), box = document.createElement('input');
        box.type = 'number'; box.min = '1'; box.max = String(2 ** 40); box.dataset.axis = axis.name;
        label.append(axis.name + ' ', box);
        fields.append(label);
      }
    }
    const boxes = fields.querySelectorAll('input');
    axes.forEach((axis, number) => { if (boxes[number] !== document.activeElement) boxes[number].value = axis.size ?? ''; });
  }
  function mark(place, message = '') {
    const lines = text.value.split('\n');
    marks.replaceChildren();
    if (place && place.line <= lines.length) {
      const line = lines[place.line - 1], points = [...line];
      const before = points.slice(0, place.column - 1).join(''), there = points.slice(place.column - 1, place.column - 1 + place.width).join('') || ' ';
      const spot = document.createElement('mark');
      spot.textContent = there;
      marks.append([...lines.slice(0, place.line - 1), ''].join('\n') + before, spot, points.slice(place.column - 1 + place.width).join('') + '\n' + lines.slice(place.line).join('\n'));
    }
    marks.scrollTop = text.scrollTop;
    wrong.replaceChildren();
    if (!message) { text.removeAttribute('aria-invalid'); return; }
    if (place) {
      const shown = document.createElement('pre');
      shown.textContent = (lines[place.line - 1] ?? '') + '\n' + ' '.repeat(place.column - 1) + '^'.repeat(place.width);
      wrong.append(`Line ${place.line}, column ${place.column}: ${message}`, shown);
    } else { wrong.append(message); }
    text.setAttribute('aria-invalid', String(Boolean(place)));
  }

  // Asking.
  function changed(soon = 200) {
    remember();
    clearTimeout(waiting);
    waiting = setTimeout(ask, soon);
  }
  const figure = (name, value) => ({
    nodes: `${value} nodes`, classes: `${value} classes`, candidates: `${value} candidates`, priced: `${value} priced`,
    best_us: `best so far ${value.toPrecision(4)} µs`, bound_us: `bound ${value.toPrecision(4)} µs`,
  })[name];
  async function ask() {
    asking?.abort();
    const mine = asking = new AbortController(), begun = performance.now();
    let ended = false;
    status.textContent = 'Reading …';
    result.setAttribute('aria-busy', 'true');
    try {
      const answer = await fetch('/derive', {
        method: 'POST', signal: mine.signal, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...state, sizes }),
      });
      if (!answer.ok) { failed((await answer.text()).trim()); return; }
      const lines = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      for (;;) {
        const { done, value } = await lines.read();
        if (done || mine !== asking) break;
        const parts = (rest + value).split('\n');
        rest = parts.pop();
        for (const part of parts) {
          const event = JSON.parse(part);
          ended ||= event.event === 'end' || event.event === 'wrong';
          took(event, (performance.now() - begun) / 1000);
        }
      }
      if (!ended && mine === asking) failed('The answer broke off; change something, or load this page again.');
    } catch (reason) {
      if (reason.name !== 'AbortError' && mine === asking) failed('The server does not answer. Is napkin-eq serve still running?');
    } finally {
      if (mine === asking) result.removeAttribute('aria-busy');
    }
  }
  function failed(message) {
    mark(null, message);
    status.textContent = 'Nothing derived.';
    result.classList.add('old');
  }
  function took(event, seconds) {
    if (event.event === 'read') {
      if (Object.keys(sizes).length && event.text !== state.text) { state.text = event.text; text.value = event.text; remember(); }
      sizes = {};
      mark(null);
      showAxes(event.axes);
      at('name').textContent = event.name;
      document.title = event.name + ' · napkin_eq explorer';
      status.textContent = 'Deriving …';
      result.classList.add('old');
      const shown = result.querySelector('#diagram figure .scroll');
      if (shown) { shown.innerHTML = event.picture; } else {
        drawn.innerHTML = '<div class="scroll" tabindex="0" role="group" aria-label="the diagram"></div>';
        drawn.firstChild.innerHTML = event.picture;
      }
    } else if (event.event === 'progress') {
      const figures = Object.entries(event.figures).map(([name, value]) => figure(name, value)).filter(Boolean);
      status.textContent = `${seconds.toFixed(0)} s, ${event.search}: ${figures.join(', ')}`;
    } else if (event.event === 'lead' || event.event === 'found') {
      status.textContent = `${event.sentence} (${seconds.toFixed(1)} s)`;
      let shown = result.querySelectorAll('#diagram figure .scroll')[1] ?? drawn.children[1];
      if (!shown) {
        shown = document.createElement('div');
        for (const [name, value] of [['class', 'scroll'], ['tabindex', '0'], ['role', 'group'], ['aria-label', 'the plan']]) shown.setAttribute(name, value);
        drawn.append(shown);
      }
      shown.innerHTML = event.picture;
      led = event.event === 'lead' ? shown : null;
      if (!led) result.classList.remove('old');
    } else if (event.event === 'plan') {
      const open = new Set([...result.querySelectorAll('details[open] > summary')].map((one) => one.textContent));
      drawn.replaceChildren();
      result.innerHTML = event.html;
      result.classList.remove('old');
      result.querySelectorAll('details > summary').forEach((one) => { if (open.has(one.textContent)) one.parentElement.open = true; });
      derivedOf = state.text;
    } else if (event.event === 'tried') {
      const made = document.createElement('div');
      made.innerHTML = event.html;
      for (const id of ['others', 'errors']) result.querySelector('#' + id)?.replaceWith(made.querySelector('#' + id));
    } else if (event.event === 'wrong') {
      led?.replaceChildren('No plan of this was proved.');
      led = null;
      mark(event.place, event.message);
      status.textContent = derivedOf ? 'Nothing derived of this; what is shown below was derived before.' : 'Nothing derived.';
      result.classList.add('old');
    }
  }

  // What the reader does.
  text.addEventListener('input', () => { state.text = text.value; sizes = {}; mark(null); changed(); });
  text.addEventListener('scroll', () => { marks.scrollTop = text.scrollTop; });
  at('diagram').addEventListener('change', (event) => {
    if (choices.diagrams[event.target.value]) { state.text = choices.diagrams[event.target.value]; sizes = {}; show(); changed(0); }
  });
  at('sizes').addEventListener('input', (event) => {
    const said = event.target.value.trim();
    sizes[event.target.dataset.axis] = said === '' ? null : Number(said);
    changed();
  });
  for (const id of ['dtype', 'hardware']) at(id).addEventListener('change', (event) => { state[id] = event.target.value; changed(0); });
  at('families').addEventListener('change', (event) => {
    const off = new Set(state.without);
    if (event.target.checked) off.delete(event.target.value); else off.add(event.target.value);
    state.without = [...off].sort();
    show(); changed(0);
  });
  at('allon').addEventListener('click', () => { state.without = []; show(); changed(0); });
  at('share').addEventListener('click', async () => {
    remember();
    try { await navigator.clipboard.writeText(location.href); at('shared').textContent = 'copied'; } catch { at('shared').textContent = 'the address of this page is the link'; }
  });
  result.addEventListener('mouseover', (event) => {
    const line = event.target.closest('[data-plan]'), number = line?.getAttribute('data-plan');
    result.querySelectorAll('.on').forEach((one) => one.classList.remove('on'));
    if (number) result.querySelectorAll(`[data-plan="${Number(number)}"]`).forEach((one) => one.classList.add('on'));
  });
  window.addEventListener('hashchange', () => {
    const found = decoded(location.hash.slice(1));
    if (found && JSON.stringify(found) !== JSON.stringify(state)) { state = found; sizes = {}; show(); changed(0); }
  });

  async function begin() {
    try {
      choices = await (await fetch('/choices')).json();
    } catch { failed('The server does not answer. Is napkin-eq serve still running?'); return; }
    for (const name of Object.keys(choices.diagrams)) option(at('diagram'), name, name);
    for (const name of choices.dtypes) option(at('dtype'), name, name);
    for (const [name, said] of Object.entries(choices.hardware)) option(at('hardware'), name, said);
    for (const [family, laws] of Object.entries(choices.families)) {
      const details = document.createElement('details'), summary = document.createElement('summary');
      const boxed = (value, said, of) => {
        const label = document.createElement('label'), box = document.createElement('input');
        box.type = 'checkbox'; box.value = value;
        if (of) box.dataset.family = of;
        label.append(box, ' ' + said);
        return label;
      };
      summary.textContent = `${family}: ${laws.length}`;
      details.append(summary, boxed(family, 'the whole family', ''), ...laws.map(([name, reading]) => boxed(name, `${name}: ${reading}`, family)));
      at('families').append(details);
    }
    state = decoded(location.hash.slice(1)) ?? { ...usual, text: choices.diagrams.attention };
    show();
    changed(0);
  }
  begin();
})();
