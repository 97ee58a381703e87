import { useEffect, useState } from 'preact/hooks'
import { TagMark } from '../parts/plant-row.tsx'
import { QuotedTextView } from '../parts/quoted-text-view.tsx'
import { shownTag, shownText } from '../parts/shown-text.ts'
import { texts } from '../parts/texts.ts'
import { dayOf } from '../parts/times.ts'
import { readPlace } from '../session/place.ts'
import type { PlantPages } from './pages.ts'

const words = texts.printed

interface PrintedPlantsProps {
  pages: PlantPages
  /** The first row, and the one after the last. */
  first: number
  end: number
}

/** Replaces the list in print: a table of these rows, with a caption that names them. */
export function PrintedPlants({ pages, first, end }: PrintedPlantsProps) {
  const isPrinting = useIsPrinting()
  if (!isPrinting) return null
  const plants = Array.from(
    { length: Math.max(0, end - first) },
    (_, at) => pages.plantAt(first + at) ?? [],
  ).flat()
  const { q, tag } = readPlace()
  return (
    <table class="printed">
      <caption>
        {words.which(plants[0]?.id, plants.at(-1)?.id)}
        {q !== '' && <QuotedTextView text={words.search(q)} />}
        {tag !== undefined && <QuotedTextView text={words.tag(shownTag(tag))} />}
      </caption>
      <thead>
        <tr>
          {[texts.plants.id, texts.plants.name, texts.plants.tag, texts.plants.changed].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {plants.map(({ id, name, tag, updatedAt }) => (
          <tr key={id}>
            <td>{String(id)}</td>
            <td>
              <bdi>{shownText(name, texts.plants.nameless)}</bdi>
            </td>
            <td>{tag !== undefined && <TagMark tag={tag} />}</td>
            <td>{dayOf(updatedAt)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Whether the page is being printed. Only then the table is rendered, to keep scrolling fast. */
function useIsPrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false)
  useEffect(() => {
    const paper = matchMedia('print')
    const begin = () => setPrinting(true)
    const end = () => setPrinting(false)
    const follow = () => setPrinting(paper.matches)
    addEventListener('beforeprint', begin)
    addEventListener('afterprint', end)
    paper.addEventListener('change', follow)
    return () => {
      removeEventListener('beforeprint', begin)
      removeEventListener('afterprint', end)
      paper.removeEventListener('change', follow)
    }
  }, [])
  return isPrinting
}
