import { mount } from 'svelte';
import App from './App.svelte';
import './badge.js';
import { start } from './start.js';

mount(App, { target: document.querySelector('#app') });
start();
