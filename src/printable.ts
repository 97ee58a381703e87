/** Control characters, lone surrogates, line separators, and characters that change the direction of text. */
const UNFIT_FOR_A_LINE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
const UNFIT_FOR_A_TERMINAL = new RegExp(`(?![\\n\\r])${UNFIT_FOR_A_LINE.source}`, 'gu')

const SHORT_FORMS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** The text as one harmless line: unsafe characters are escaped as in JSON (`\n`, `\u001b`). */
export function printable(text: string): string {
  return text.replace(UNFIT_FOR_A_LINE, (character) => SHORT_FORMS[character] ?? escapeOf(character))
}

/** JSON or lines of text, harmless on a terminal. JSON keeps its meaning. */
export function printableLines(text: string): string {
  return text.replace(UNFIT_FOR_A_TERMINAL, escapeOf)
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
