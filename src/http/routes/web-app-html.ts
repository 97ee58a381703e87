/** The one document of the page; everything else is drawn by its script. Nothing in it is inline. */
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
<noscript><p>This page needs JavaScript. Programs talk to the service as the
<a href="${base}/docs">API reference</a> and <a href="${base}/openapi.yaml">openapi.yaml</a> say.</p></noscript>
</body>
</html>
`
}

/** What stands in the place of a page that was not built. */
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
<p>The service runs. Its page for people has not been built: run <code>npm ci</code> and <code>npm run page</code> where
the service is installed, and load this again.</p>
<ul>
<li><a href="${base}/docs">Read the API reference and try it</a></li>
<li><a href="${base}/openapi.json">openapi.json</a> and <a href="${base}/openapi.yaml">openapi.yaml</a></li>
</ul>
</main>
</body>
</html>
`
}
