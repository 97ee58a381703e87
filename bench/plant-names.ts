const GENERA = [
  ...[
    'Quercus',
    'Acer',
    'Betula',
    'Fagus',
    'Salix',
    'Populus',
    'Tilia',
    'Ulmus',
    'Fraxinus',
    'Alnus',
    'Carpinus',
  ],
  ...[
    'Corylus',
    'Prunus',
    'Malus',
    'Pyrus',
    'Sorbus',
    'Rosa',
    'Rubus',
    'Crataegus',
    'Ilex',
    'Buxus',
    'Cornus',
  ],
  ...[
    'Viburnum',
    'Lonicera',
    'Sambucus',
    'Syringa',
    'Hedera',
    'Clematis',
    'Paeonia',
    'Iris',
    'Lilium',
    'Allium',
  ],
  ...['Tulipa', 'Crocus', 'Narcissus', 'Dahlia', 'Aster', 'Salvia', 'Mentha', 'Thymus', 'Viola'],
]
const EPITHETS = [
  ...[
    'robur',
    'alba',
    'nigra',
    'rubra',
    'petraea',
    'campestris',
    'sylvatica',
    'montana',
    'alpina',
    'palustris',
  ],
  ...[
    'vulgaris',
    'officinalis',
    'japonica',
    'sinensis',
    'canadensis',
    'virginiana',
    'europaea',
    'orientalis',
  ],
  ...['grandiflora', 'parviflora', 'macrophylla', 'microphylla', 'sempervirens', 'pendula', 'repens'],
]
const TAGS = ['tree', 'shrub', 'climber', 'bulb', 'perennial', 'herb', 'annual']

/**
 * What is searched for, and how many plants have it: by how the names below are made, not by what is found.
 */
export const SEARCHES = [
  { kind: 'a rare word', query: 'wollemia', share: '1 in 100,000 plants' },
  { kind: 'a common word', query: 'hortensis', share: '1 in 4' },
  { kind: 'two words', query: 'quercus hortensis', share: '1 in 164' },
] as const

/**
 * The plant of `number` (from 1 on) among a million: names as they are in the books, some words rare, some
 * common.
 */
export function namedPlantJson(number: number): string {
  const genus = number % 100_000 === 1 ? 'Wollemia' : GENERA[number % GENERA.length]
  const epithet = EPITHETS[Math.floor(number / GENERA.length) % EPITHETS.length]
  const variety = number % 4 === 0 ? ' var. hortensis' : ''
  const name = `${genus} ${epithet}${variety} 'Selection ${number % 5_000}'`
  return JSON.stringify({ id: number, name, tag: TAGS[number % TAGS.length] })
}
