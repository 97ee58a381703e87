import assert from 'node:assert/strict'
import { test } from 'node:test'
import stringWidth from 'string-width'
import { textWidth } from '../../../src/cli/output/text-width.ts'

const NAMES = {
  Latin: ['Quercus robur', 'Salix × sepulcralis', 'Açaí palm', 'e\u0301tude', 'Tối Ở', '“–”…'],
  Chinese: ['植物', '「桂花」、', '𠮷', 'ㄅㄆ'],
  Japanese: ['サクラ', 'ﾊﾟﾝｼﾞｰ', 'ー〜', 'ＡＢＣ'],
  Korean: ['무궁화', '\u1112\u1161\u11ab'],
  Indic: ['हिन्दी', 'नीम', 'தமிழ்', 'তুলসী', 'ខ្មែរ', 'မြန်မာ'],
  others: ['ไทย', 'น้ำ', 'العربية', 'עִבְרִית', 'Ελληνικά', 'Дуб'],
  emoji: ['🌳🌳', '👩‍🌾', '👨‍👩‍👧‍👦', '🇩🇪', '❤️', '☘', '☘️', '1️⃣', '👍🏽', '🪴🪻'],
}

for (const [script, names] of Object.entries(NAMES)) {
  test(`${script} names have their width on a terminal`, () => {
    for (const name of names) assert.equal(textWidth(name), stringWidth(name), name)
  })
}
