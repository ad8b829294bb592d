import react from '@vitejs/plugin-react';

const { PORT, API_PORT, LIVE_PORT } = process.env;

export default {
  plugins: [react()],
  clearScreen: false,
  define: { __API__: JSON.stringify(`http://127.0.0.1:${API_PORT}`), __LIVE__: JSON.stringify(`ws://127.0.0.1:${LIVE_PORT}/live`) },
  server: { host: '127.0.0.1', port: Number(PORT), strictPort: true, proxy: { '/api': `http://127.0.0.1:${API_PORT}` } },
};
