import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guessDelimiter, guessHeadings, headerDelimiter } from '../../../src/plants/import/table-guess.ts'

test('the delimiter is the one that makes a regular table, or names a column of names', () => {
  for (const [text, delimiter] of [
    ['id,name\n1,Rosa', ','],
    ['id;name;tag\n1;Rosa, wild;shrub\n2;Ulmus;', ';'],
    ['Nr\tBezeichnung\n1\tRosa, wild; climbing', '\t'],
    ['1;Rosa canina\n2;Rosa alba, double', ';'],
    ['"a;b",Rosa\n"c;d",Ulmus', ','],
    ['name\nRosa; wild\nUlmus', ','],
    ['Rosa canina\nUlmus glabra', ','],
    ['id;name,with;comma\n1;2;3', ';'],
  ] as const) {
    assert.equal(guessDelimiter(text, true), delimiter, text)
  }
})

test('headings in other words and languages are recognised, each member once', () => {
  for (const [header, members] of [
    ['Nr;Bezeichnung;Typ', ['id', 'name', 'tag']],
    ['Nummer;Name;Standort', ['id', 'name', '']],
    ['N°;Nom;Catégorie', ['id', 'name', 'tag']],
    ['Accession No.;Species;Type', ['id', 'name', 'tag']],
    ['Art;Name;id', ['', 'name', 'id']],
    ['Art;Nr.', ['name', 'id']],
    ['Bed;Row', ['', '']],
  ] as const) {
    assert.deepEqual(guessHeadings(header.split(';')), members, header)
  }
})

test('a header row has the delimiter with which it names the column name', () => {
  for (const [text, isWhole, delimiter] of [
    ['id,name\n', false, ','],
    ['"Id";" Name "\n', false, ';'],
    ['\n\t\t\nid\tname\n1\tRosa', false, '\t'],
    ['name\n', false, ','],
    ['id,name;a,tag\n', false, ','],
    ['Nr;Bezeichnung\n', false, ','],
    ['id;na', false, undefined],
    ['id;name', true, ';'],
    ['', true, ','],
  ] as const) {
    assert.equal(headerDelimiter(text, isWhole), delimiter, text)
  }
})
