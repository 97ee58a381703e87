// Builds web/dist, the page that the service serves at /, from web/app. Where Vite is not installed, as after
// "npm ci --omit=dev", it says so and leaves things as they are: to install must not fail for it.
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

if (isInstalled('vite')) {
  const { build } = await import('vite')
  await build({
    root: `${ROOT}web/app`,
    configFile: false,
    publicDir: false,
    // The service says where the page is; files of the page find each other from where they are.
    base: './',
    logLevel: 'warn',
    build: {
      outDir: `${ROOT}web/dist`,
      emptyOutDir: true,
      target: 'es2022',
      manifest: 'manifest.json',
      license: { fileName: 'licences.md' },
      // A strict policy lets no data: URL pass.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: { input: `${ROOT}web/app/main.tsx` },
    },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  })
} else {
  process.stdout.write(
    'The web app is not built, as Vite is not installed. Run npm ci, then npm run web-app.\n',
  )
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}
