// Builds what the package runs from: dist/, the sources without their types and what lies beside them, and the page.
import { execFileSync } from 'node:child_process'
import { cpSync, rmSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

rmSync(`${ROOT}dist`, { recursive: true, force: true })
// The client is compiled a second time, with types for its users, and against what a browser has, so that it can
// use nothing else.
for (const project of ['tsconfig.build.json', 'tsconfig.client.json']) {
  execFileSync('tsc', ['--project', project], {
    cwd: ROOT,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}
cpSync(`${ROOT}src`, `${ROOT}dist`, {
  recursive: true,
  filter: (path) => path.endsWith('.sql') || statSync(path).isDirectory(),
})
// Of Swagger UI only what is served, and its terms: to depend on it would run a script of a company that counts
// installations, which only the clone's "overrides" keep away.
for (const name of [
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css',
  'LICENSE',
  'NOTICE',
]) {
  cpSync(`${ROOT}node_modules/swagger-ui-dist/${name}`, `${ROOT}dist/swagger-ui/${name}`)
}
for (const parameters of [
  ['build/build-web-app.ts'],
  ['build/write-version.ts', 'dist'],
  ['build/write-man-page.ts'],
]) {
  execFileSync(process.execPath, parameters, { cwd: ROOT, stdio: 'inherit' })
}
