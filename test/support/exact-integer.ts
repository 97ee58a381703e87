/**
 * The int64 that the text of a JSON number denotes, or undefined: by exact arithmetic on the whole number, as
 * slow as it is plain. For exponents of a few digits.
 */
export function exactIntegerOf(numberText: string): bigint | undefined {
  const [mantissa = '', exponent = '0'] = numberText.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const scaled = BigInt(whole + fraction)
  const power = Number(exponent) - fraction.length
  const factor = 10n ** BigInt(Math.abs(power))
  if (power < 0 && scaled % factor !== 0n) return undefined
  const integer = power < 0 ? scaled / factor : scaled * factor
  return BigInt.asIntN(64, integer) === integer ? integer : undefined
}
