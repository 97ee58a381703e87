import type { AddedPlant } from '../web/added-plants.ts'

/** What grows in a garden, by tag. */
const GARDEN = {
  tree: [
    'Quercus robur · English oak',
    'Fagus sylvatica ‘Dawyck Purple’',
    'Ginkgo biloba',
    'Acer palmatum ‘Sango-kaku’',
    'Betula utilis var. jacquemontii',
    'Magnolia ×soulangeana',
    'Davidia involucrata · Handkerchief tree',
    'Cercis siliquastrum',
    'Tilia cordata',
    'Prunus ×yedoensis · Yoshino cherry',
    'Sorbus aucuparia',
    'Taxus baccata',
  ],
  shrub: [
    'Rosa ‘Gertrude Jekyll’',
    'Hamamelis ×intermedia ‘Jelena’',
    'Viburnum ×bodnantense ‘Dawn’',
    'Hydrangea quercifolia',
    'Cornus alba ‘Sibirica’',
    'Camellia japonica',
    'Daphne odora ‘Aureomarginata’',
    'Rhododendron luteum',
    'Syringa vulgaris · Lilac',
    'Buxus sempervirens',
  ],
  herb: [
    'Lavandula angustifolia ‘Hidcote’',
    'Medicago ×varia',
    'Salvia officinalis · Sage',
    'Thymus serpyllum',
    'Echinacea purpurea',
    'Digitalis purpurea · Foxglove',
    'Achillea millefolium',
    'Hyssopus officinalis',
    'Mentha ×piperita',
    'Verbena bonariensis',
    'Geranium ‘Rozanne’',
    'Helleborus niger · Christmas rose',
  ],
  fern: [
    'Dicksonia antarctica · Soft tree fern',
    'Asplenium scolopendrium',
    'Osmunda regalis · Royal fern',
    'Polystichum setiferum',
    'Matteuccia struthiopteris',
    'Adiantum venustum',
  ],
  palm: [
    'Trachycarpus fortunei',
    'Euterpe oleracea · Açaí palm',
    'Chamaerops humilis',
    'Phoenix canariensis',
  ],
  bulb: [
    'Galanthus nivalis · Snowdrop',
    'Narcissus ‘Thalia’',
    'Tulipa sylvestris',
    'Fritillaria meleagris',
    'Allium ‘Purple Sensation’',
    'Camassia leichtlinii',
    'Crocus tommasinianus',
  ],
  orchid: [
    'Cypripedium calceolus',
    'Dendrobium nobile',
    'Paphiopedilum insigne',
    'Vanda coerulea',
    'Ophrys apifera · Bee orchid',
  ],
  cactus: ['Echinocactus grusonii', 'Opuntia humifusa', 'Mammillaria hahniana', 'Rebutia minuscula'],
} as const

const DAY_MS = 86_400_000
/** The garden was planted over these days, more of it in spring and in autumn. */
const DAYS = 420

/** A garden as one meets it: some sixty plants, their ids numbered by the year, the last of them added a little before `nowMs`. */
export function gardenPlants(nowMs: number): AddedPlant[] {
  const named = Object.entries(GARDEN).flatMap(([tag, names]) => names.map((name) => ({ name, tag })))
  // Tags mixed as they come: a step that shares no divisor with the count meets each once.
  const mixed = named.map((_, at) => named[(at * 23) % named.length]).filter((plant) => plant !== undefined)
  const counts = new Map<number, number>()
  return mixed.map((plant, at) => {
    const part = at / (mixed.length - 1)
    const daysAgo = DAYS * (1 - part + Math.sin(part * 4 * Math.PI) / 16)
    const addedMs = nowMs - Math.round(daysAgo * DAY_MS)
    const year = new Date(addedMs).getUTCFullYear()
    const count = (counts.get(year) ?? 0) + 1
    counts.set(year, count)
    return { id: BigInt(year * 10_000 + count), ...plant, addedMs }
  })
}
