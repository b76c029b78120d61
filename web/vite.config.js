// One page for all paths: the server answers with index.html and the page looks at its address.
// Nothing is inlined, so that the pages can forbid inline script and style.
export default {
  base: "/",
  build: {
    outDir: "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2021",
  },
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  server: { proxy: { "/v1": { target: "http://127.0.0.1:8000", ws: true } } },
};
