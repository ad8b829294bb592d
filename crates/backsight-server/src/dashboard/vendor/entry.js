// All that the dashboard takes from others, in one module.
export { h, render, Fragment } from 'preact';
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
export { signal, computed, effect } from '@preact/signals';
export { default as htm } from 'htm';
