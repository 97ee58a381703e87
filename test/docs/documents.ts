import { readdirSync } from 'node:fs'
import { read } from '../support/source-imports.ts'

const pagesIn = (folder: string) =>
  readdirSync(new URL(`../../${folder}/`, import.meta.url))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `${folder}/${name}`)

/** The pages of docs, one a task, from the root. */
export const PAGES: readonly string[] = pagesIn('docs')

/** What users read. */
export const GUIDES: readonly string[] = ['README.md', ...PAGES]

export const DECISIONS: readonly string[] = pagesIn('docs/decisions')

/** Every document whose links and paths must exist. */
export const DOCUMENTS: readonly string[] = [
  ...GUIDES,
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...DECISIONS,
]

/** The code blocks of a document in this language; '' for those without one. */
export function codeBlocks(document: string, language: string): string[] {
  const blocks = read(document).matchAll(/^```(\w*)\n(.*?)^```$/gms)
  return [...blocks].filter(([, name]) => name === language).map(([, , block = '']) => block)
}

/** The text of a document without its code blocks. */
export const prose = (document: string): string => read(document).replaceAll(/^```\w*\n.*?^```$/gms, '')

/** What stands between backticks in the text of a document. */
export const inlineCode = (document: string): string[] =>
  [...prose(document).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
