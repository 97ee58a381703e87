// Writes version.txt into a folder of code (`dist` or `src`), for builds without a repository. The commit is that of the
// clone, or GIT_COMMIT where there is none: `git describe --always --dirty --exclude='*'`.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readVersion, versionOf } from '../src/version.ts'

const [folder = 'dist'] = process.argv.slice(2)
const { GIT_COMMIT: commit = '' } = process.env
const version = commit === '' ? await readVersion() : versionOf(commit)
writeFileSync(fileURLToPath(new URL(`../${folder}/version.txt`, import.meta.url)), `${version}\n`)
