// Two pages: index.html for players answers for all of their paths, console.html for all below /console; each looks at
// its address by itself. Nothing is inlined, so that the pages can forbid inline script and style.
export default {
  base: "/",
  build: {
    outDir: "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2021",
    rollupOptions: { input: ["index.html", "console.html"] },
  },
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  server: { proxy: { "/v1": { target: "http://127.0.0.1:8000", ws: true } } },
};
