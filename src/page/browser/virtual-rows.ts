import { h, type ComponentChildren, type JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Rows above and below the visible ones, so that a fast scroll finds them drawn. */
const EXTRA_ROWS = 8

interface VirtualRowsProps<Row> {
  readonly name: string
  readonly head: readonly { readonly name: string; readonly class: string }[]
  readonly rows: readonly Row[]
  readonly rowHeight: number
  readonly keyOf: (row: Row) => number
  readonly classOf: (row: Row) => string
  readonly cells: (row: Row) => readonly ComponentChildren[]
  /** Called when the last row is near. */
  readonly onEnd: () => void
}

/** A table of many rows of one height, of which only the visible ones are in the document. */
export function VirtualRows<Row>({
  name,
  head,
  rows,
  rowHeight,
  keyOf,
  classOf,
  cells,
  onEnd
}: VirtualRowsProps<Row>): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(600)
  const firstKey = useRef<number | null>(null)
  /** The scroll position of the last scroll event: to read it from the element would lay the page out in each change. */
  const scrolled = useRef(0)

  useLayoutEffect(() => {
    const element = box.current!
    const observer = new ResizeObserver(() => setHeight(element.clientHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  // A reader who has scrolled keeps their place when rows arrive above it.
  useLayoutEffect(() => {
    const element = box.current!
    const before = firstKey.current
    firstKey.current = rows.length === 0 ? null : keyOf(rows[0]!)
    if (before === null || before === firstKey.current || scrolled.current < rowHeight) return
    const added = rows.findIndex((row) => keyOf(row) === before)
    if (added > 0) element.scrollTop += added * rowHeight
  }, [rows])

  const from = Math.max(0, Math.floor(top / rowHeight) - EXTRA_ROWS)
  const to = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + EXTRA_ROWS)
  useLayoutEffect(() => {
    if (rows.length > 0 && to >= rows.length) onEnd()
  }, [to, rows.length])

  return h(
    'div',
    { class: 'virtual', role: 'table', 'aria-label': name, 'aria-rowcount': rows.length + 1 },
    h(
      'div',
      { role: 'rowgroup' },
      h(
        'div',
        { role: 'row', class: 'virtual-row virtual-head', 'aria-rowindex': 1 },
        head.map((column) =>
          h('span', { key: column.name, role: 'columnheader', class: column.class }, column.name)
        )
      )
    ),
    h(
      'div',
      {
        ref: box,
        role: 'rowgroup',
        class: 'virtual-box',
        tabIndex: 0,
        onScroll: () => {
          scrolled.current = box.current!.scrollTop
          setTop(scrolled.current)
        }
      },
      h('div', { style: { height: `${from * rowHeight}px` }, role: 'presentation' }),
      rows.slice(from, to).map((row, at) =>
        h(
          'div',
          {
            key: keyOf(row),
            'data-key': keyOf(row),
            role: 'row',
            class: `virtual-row ${classOf(row)}`,
            'aria-rowindex': from + at + 2,
            style: { height: `${rowHeight}px` }
          },
          cells(row).map((cell, index) =>
            h('span', { key: index, role: 'cell', class: head[index]!.class }, cell)
          )
        )
      ),
      h('div', { style: { height: `${(rows.length - to) * rowHeight}px` }, role: 'presentation' })
    )
  )
}
