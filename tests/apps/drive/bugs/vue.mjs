// Vite and Vue, in a browser that Backsight launched. No user is there: all that happens comes from edits.
import { freePort } from '../stage.mjs';
import { edit, line } from './acts.mjs';

/** Code that runs when the component is mounted. */
const mounted = (code) => edit('src/Stock.vue', 'onMounted(async () => {', `onMounted(async () => {\n  ${code}`);

const BUGS = [
  {
    name: 'template',
    kind: 'TypeError in a Vue template',
    plant: edit('src/Stock.vue', '{{ title }}: {{ count }}', '{{ title }}: {{ goods.rows.length }}'),
    says: ["Cannot read properties of undefined (reading 'length')"],
    at: line('src/Stock.vue', 'goods.rows.length'),
    severity: 'error',
  },
  {
    name: 'mounted',
    kind: 'unhandled error in a lifecycle hook',
    plant: mounted("throw new Error('shelf is empty');"),
    says: ['shelf is empty'],
    at: line('src/Stock.vue', 'shelf is empty'),
    severity: 'error',
  },
  {
    name: 'component',
    kind: 'component that Vue does not know',
    plant: edit('src/Stock.vue', '<ul>', '<stock-row />\n    <ul>'),
    says: ['Failed to resolve component: stock-row'],
    at: () => ['src/Stock.vue'],
    severity: 'warning',
  },
  {
    name: 'prop',
    kind: 'required property is not given',
    plant: edit('src/App.vue', ' title="Kitchen"', ''),
    says: ['Missing required prop: "title"'],
    // Vue warns when a hot update renders anew, so that no line that somebody wrote is on the stack: the file, without the
    // line of what Vite put into it.
    at: () => [/src\/App\.vue(?!:\d)/],
    severity: 'warning',
  },
  {
    name: 'end tag',
    kind: 'Vue template that does not compile',
    plant: edit('src/Stock.vue', '    </ul>\n', ''),
    says: ['Element is missing end tag'],
    at: line('src/Stock.vue', '<ul>'),
    severity: 'error',
  },
  {
    name: 'HTML for JSON',
    kind: "JSON that is not there, Vite's page instead",
    plant: edit('src/Stock.vue', '/stock.json', '/stocks.json'),
    says: ['is not valid JSON'],
    at: ({ stage }) => [stage.place('src/Stock.vue', 'response.json()'), '/stocks.json'],
    severity: 'error',
  },
  {
    name: 'endless watch',
    kind: 'watcher that sets what it watches',
    // In one edit: of two that follow each other at once, Vite may take in the first alone.
    plant: edit('src/Stock.vue', 'const count = ref(0);', "const count = ref(0);\nimport { watch } from 'vue';\nwatch(count, () => count.value++);"),
    says: ['Maximum recursive updates exceeded'],
    // Vue gives up in a task of its own; the app's line on the stack is the one that began it.
    at: line('src/Stock.vue', 'goods.value = await'),
    severity: 'error',
  },
];

export const app = {
  launches: true,
  bugs: BUGS,

  async start(scene) {
    const { stage, agent, node } = scene;
    const port = await freePort();
    await stage.start('web', port, [node, 'node_modules/vite/bin/vite.js'], { PORT: port });
    await agent.call('browser_attach', { launch: true, headless: true, open: `http://127.0.0.1:${port}/` });
  },

  /** Vite reloads the page when its HTML was written. */
  reload: ({ stage }) => stage.touch('index.html'),
};
