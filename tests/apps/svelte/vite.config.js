import { svelte } from '@sveltejs/vite-plugin-svelte';

export default {
  plugins: [svelte()],
  clearScreen: false,
  server: {
    host: '127.0.0.1',
    port: Number(process.env.PORT),
    strictPort: true,
    proxy: { '/api': { target: `http://127.0.0.1:${process.env.API_PORT}`, ws: true } },
  },
};
