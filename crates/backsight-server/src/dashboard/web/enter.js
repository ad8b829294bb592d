// Runs once, on the page that a one-time address leads to: keeps the key where only this origin can read it, and goes on.
const said = (name) => document.querySelector(`meta[name="${name}"]`)?.content ?? '';
localStorage.setItem('backsight.key', said('backsight-key'));
localStorage.setItem('backsight.person', said('backsight-person'));
location.replace(new URL('/', location.origin));
