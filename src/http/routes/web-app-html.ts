/** The HTML document of the web app, which its script fills. It has no inline scripts and styles. */
export function webAppHtml(
  base: string,
  { script, styles }: { script: string; styles: readonly string[] },
): string {
  return `<!doctype html>
<html lang="en" data-base-path="${base}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Plant Store</title>
<link rel="icon" href="${base}/docs/leaf.svg" type="image/svg+xml">
${styles.map((name) => `<link rel="stylesheet" href="${base}/assets/${name}">`).join('\n')}
<script src="${base}/assets/${script}" type="module"></script>
</head>
<body>
<div id="page"></div>
<noscript><p>Plant Store needs JavaScript. Turn it on in your browser and reload this page. For programs, see the
<a href="${base}/docs">API reference</a> and <a href="${base}/openapi.yaml">openapi.yaml</a>.</p></noscript>
</body>
</html>
`
}

/** The page instead of a web app that was not built. */
export function missingWebAppHtml(base: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Plant Store</title>
<link rel="icon" href="${base}/docs/leaf.svg" type="image/svg+xml">
</head>
<body>
<main>
<h1>Plant Store</h1>
<p>The service is running, but the web app has not been built. Ask the operator to run <code>npm ci</code> and
<code>npm run web-app</code> where the service is installed. Then reload this page.</p>
<ul>
<li><a href="${base}/docs">API reference</a></li>
<li><a href="${base}/openapi.json">openapi.json</a> and <a href="${base}/openapi.yaml">openapi.yaml</a></li>
</ul>
</main>
</body>
</html>
`
}
