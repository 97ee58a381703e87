/**
 * Controls, which a terminal obeys; what is no character; and what breaks a line or makes a text read in
 * another order than it is written.
 */
const UNFIT_FOR_A_LINE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
const UNFIT_FOR_A_TERMINAL = new RegExp(`(?![\\n\\r])${UNFIT_FOR_A_LINE.source}`, 'gu')

const SHORT_FORMS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** The text as one harmless line: what is unfit for one is written as JSON writes it (`\n`, `\u001b`). */
export function printable(text: string): string {
  return text.replace(UNFIT_FOR_A_LINE, (character) => SHORT_FORMS[character] ?? escapeOf(character))
}

/** JSON text or whole lines, harmless on a terminal. JSON keeps its meaning. */
export function printableLines(text: string): string {
  return text.replace(UNFIT_FOR_A_TERMINAL, escapeOf)
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
