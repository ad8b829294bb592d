import vue from '@vitejs/plugin-vue';

export default {
  plugins: [vue()],
  clearScreen: false,
  server: { host: '127.0.0.1', port: Number(process.env.PORT), strictPort: true },
};
