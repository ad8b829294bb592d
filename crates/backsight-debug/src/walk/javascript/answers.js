  // What the walker is asked. The end of the one function that `values.js` begins.

  // JSON in which half a character is told by its escape: outside JavaScript it is no text.
  const written = (answer) => {
    const text = JSON.stringify(answer);
    return text.includes('\\ud') ? text.replace(/(?<!\\)((?:\\\\)*)\\u(d[89a-f]..)/g, '$1\\\\u$2') : text;
  };

  // What was thrown, and what led to it: causes and the errors that an error holds.
  const RAISED = 16;
  const raised = (thrown) => {
    const told = [], seen = new Set(), queue = [[null, thrown]];
    let omitted = 0;
    while (queue.length > 0) {
      const [relation, one] = queue.shift();
      if (isObject(one) && seen.has(one)) continue;
      seen.add(one);
      if (told.length > RAISED) { omitted++; continue; }
      const isPlain = !isObject(one) || types.isProxy(one);
      const message = isPlain ? (isObject(one) ? null : primitive(one)) : data(one, 'message');
      told.push({ relation, type: kindOf(one), message: typeof message === 'string' ? message.slice(0, TEXT) : null });
      if (isPlain) continue;
      const led = [];
      if (data(one, 'cause') !== undefined) led.push(['cause', data(one, 'cause')]);
      const inner = data(one, 'errors');
      if (isArray(inner)) for (let at = 0; at < least(inner.length, RAISED); at++) led.push(['inner', data(inner, at)]);
      queue.unshift(...led);
    }
    const [{ type, message }, ...chain] = told;
    return { type, message, chain, chain_omitted: omitted };
  };

  const answer = (config, self, rest) => {
    const scopes = rest.slice(0, config.scopes.length);
    // Scopes are as they were when the program was paused; where code ran since, the last value holds what can be seen now.
    const fresh = config.fresh ? rest[rest.length - 1] : null;
    if (config.names) return { names: scopes.map((scope, index) => (config.live[index] ? [] : Reflect.ownKeys(scope).filter((name) => typeof name === 'string'))) };
    judged = new Map();
    settled = new Set();
    if (config.raised) return raised(self);
    const walk = new Walk(config);
    const expression = new Expression(config, self, scopes, fresh);
    if (config.page && config.page.scope !== null) return walk.page(scopes[config.at], config.page);
    if (config.value) {
      const value = expression.of(config.trees[0]);
      if (config.page) return walk.page(value, config.page);
      const told = [{ n: '', value }];
      walk.frame(told);
      return { v: told[0].v };
    }
    const variables = [];
    const hidden = new Map();
    if (config.hasThis && !config.only) variables.push({ n: 'this', s: 'this', value: self });
    config.scopes.forEach((kind, index) => {
      if (config.only || !config.own[index]) return;
      for (const name of Reflect.ownKeys(scopes[index])) {
        if (typeof name !== 'string' || config.skip.includes(name)) continue;
        const depth = hidden.get(name) || 0;
        hidden.set(name, depth + 1);
        let scope = kind === 'closure' ? 'closure' : 'local';
        if (kind === 'local' && config.arguments.includes(name)) scope = 'argument';
        let value;
        let unset = false;
        try {
          const now = fresh !== null && depth === 0 ? descriptor(fresh, name) : undefined;
          value = now === undefined ? data(scopes[index], name) : now.value;
        } catch {
          // What a module has not come to yet: V8 refuses to read it.
          unset = true;
        }
        const variable = { n: name, s: scope, value };
        if (depth > 0) variable.d = depth;
        if (unset || value === undefined && config.unset[index].includes(name)) variable.v = { k: 'undefined', t: '?', u: 1 };
        variables.push(variable);
      }
    });
    config.watches.forEach((name, index) => {
      let failed = config.failed[index], value;
      try {
        if (failed === null) value = expression.of(config.trees[index]);
      } catch (thrown) {
        failed = said(thrown);
      }
      if (failed !== null) variables.push({ n: name, s: 'watch', v: { k: 'error', t: `<error: ${failed}>` } });
      else variables.push({ n: name, s: 'watch', value });
    });
    if (config.page) {
      const variable = variables[config.page.root];
      if (variable === undefined) return { error: 'there is no such variable' };
      if (variable.v !== undefined) return { refused: `\`${variable.n}\` has no value yet` };
      return walk.page(variable.value, config.page);
    }
    for (const { n, s, value } of variables) {
      if (typeof value !== 'function' || types.isProxy(value)) continue;
      if (s === 'closure' || s === 'this' || (config.isModule && isDeclared(n, value, config.source))) settled.add(value);
    }
    walk.frame(variables);
    return { v: variables, incomplete: walk.incomplete };
  };

  // After `this` comes what V8 made of the frame's scopes, innermost first. What fails is told here: V8 would describe it by
  // running the program's `prepareStackTrace`.
  return (text, self, ...rest) => {
    try {
      return written(answer(JSON.parse(text), self, rest));
    } catch (thrown) {
      return written(thrown instanceof Refused ? { refused: thrown.why } : { error: said(thrown) });
    }
  };
}
