// Builds client-package/: the package plantstore-client, which is the client alone, for programs that only call the
// service.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import packageJson from '../package.json' with { type: 'json' }

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = `${ROOT}client-package`
const NAME = 'plantstore-client'
const { version, license, engines, type, sideEffects } = packageJson
const { types, default: main } = packageJson.exports['./client']

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER)
execFileSync('tsc', ['--project', 'tsconfig.client.json', '--outDir', `${FOLDER}/dist`], {
  cwd: ROOT,
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
const manifest = {
  name: NAME,
  version,
  description: 'The typed client of Plant Store: exact 64-bit ids, safe retries, no dependencies.',
  license,
  engines,
  type,
  sideEffects,
  exports: { '.': { types, default: main }, './package.json': './package.json' },
  files: ['dist'],
}
writeFileSync(`${FOLDER}/package.json`, `${JSON.stringify(manifest, undefined, 2)}\n`)
writeFileSync(`${FOLDER}/README.md`, readme(readFileSync(`${ROOT}docs/client.md`, 'utf8')))
cpSync(`${ROOT}LICENSE`, `${FOLDER}/LICENSE`)

/** The page of the client under the package's own name, without how to install it and links to other pages. */
function readme(page: string): string {
  return page
    .replace(/^# .*/, `# ${NAME}`)
    .replace(/^## Install\n.*?(?=^## )/ms, '')
    .replaceAll('plantstore/client', NAME)
    .replace(/\[([^\]]*)\]\((?!https?:|#)[^)]*\)/g, '$1')
}
