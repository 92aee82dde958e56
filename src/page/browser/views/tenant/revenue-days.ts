import { h, type JSX } from 'preact'
import { useState } from 'preact/hooks'
import { answerOf, callOf, problemOf, type Answer, type Problem } from '../../api.ts'
import type { RevenueRows } from '../../answers.ts'
import { serviceNow } from '../../clock.ts'
import { Choice, Panel } from '../../elements.ts'
import { count, nameText, short, usd } from '../../format.ts'
import { csvOf, flowsByDay, type DayFlow, type LedgerRow } from '../../revenue-rows.ts'

/** Rows of the chart and of a file: a busy address has some thousand a day, and a file of them is 30 MB. */
const ROWS_MAX = 50_000
const PAGE_ROWS = 1_000

/** Reads rows of the ledger from a time on, page by page. */
async function readRows(
  fromSeconds: number
): Promise<{ readonly rows: readonly LedgerRow[]; readonly isCut: boolean }> {
  const rows: LedgerRow[] = []
  let after: string | null = null
  do {
    const { body }: Answer<RevenueRows> = await answerOf<RevenueRows>(
      callOf('/v1/revenue/events', {}, { limit: PAGE_ROWS, from: fromSeconds, after })
    )
    rows.push(...body.data)
    after = body.nextCursor
  } while (after !== null && rows.length < ROWS_MAX)
  return { rows, isCut: after !== null }
}

const BY = ['day', 'mint', 'role'] as const

/** Inflow and outflow by day, which can be split by mint or role, and the rows behind them as a file. */
export function DaysPanel({ seconds }: { readonly seconds: number }): JSX.Element {
  const [read, setRead] = useState<{
    readonly seconds: number
    readonly rows: readonly LedgerRow[]
    readonly isCut: boolean
  } | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [isReading, setIsReading] = useState(false)
  const [by, setBy] = useState<(typeof BY)[number]>('day')
  const load = async (): Promise<readonly LedgerRow[]> => {
    setIsReading(true)
    setProblem(null)
    try {
      const found = await readRows(Math.floor(serviceNow() / 1_000) - seconds)
      setRead({ seconds, ...found })
      return found.rows
    } catch (error) {
      setProblem(problemOf(error))
      return []
    } finally {
      setIsReading(false)
    }
  }
  const download = async (): Promise<void> => {
    const rows = await load()
    if (rows.length === 0) return
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([csvOf(rows)], { type: 'text/csv' }))
    link.download = 'revenue.csv'
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
  }
  const rows = read === null || read.seconds !== seconds ? null : read.rows
  return h(
    Panel,
    {
      title: 'By day',
      id: 'days-title',
      problem,
      tools: [
        h(Choice<(typeof BY)[number]>, {
          key: 'by',
          name: 'Split by',
          options: BY,
          chosen: by,
          onChoose: setBy
        }),
        h(
          'button',
          { key: 'draw', type: 'button', disabled: isReading, onClick: () => void load() },
          isReading ? 'Reading …' : 'Draw'
        ),
        h(
          'button',
          { key: 'csv', type: 'button', disabled: isReading, onClick: () => void download() },
          'Download CSV'
        )
      ]
    },
    rows === null
      ? h('p', { class: 'note' }, 'The chart reads every row of the window, so it is drawn on request.')
      : [
          h(DayChart, {
            key: 'chart',
            days: flowsByDay(
              rows,
              by === 'mint'
                ? (row) => nameText(row.symbol) ?? short(row.mint)
                : by === 'role'
                  ? (row) => row.role
                  : () => 'all'
            )
          }),
          h(
            'p',
            { key: 'note', class: 'note' },
            `${count(rows.length)} rows${read?.isCut === true ? ', the newest ones' : ''}; rows without a price are left out of the chart.`
          )
        ]
  )
}

const WIDTH = 720
const HEIGHT = 180

function DayChart({ days }: { readonly days: readonly DayFlow[] }): JSX.Element {
  const names = [...new Set(days.flatMap(({ parts }) => parts.map(({ name }) => name)))]
  const most = Math.max(1e-9, ...days.flatMap(({ inflow, outflow }) => [inflow, outflow]))
  const step = WIDTH / Math.max(1, days.length)
  const middle = HEIGHT / 2
  const size = (value: number): number => (value / most) * (middle - 12)
  return h(
    'div',
    null,
    h(
      'svg',
      {
        class: 'days',
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        role: 'img',
        'aria-label': days
          .map(({ day, inflow, outflow }) => `${day}: in ${usd(inflow)}, out ${usd(outflow)}`)
          .join('; ')
      },
      h('line', { x1: 0, x2: WIDTH, y1: middle, y2: middle }),
      days.map(({ day, inflow, outflow, parts }, at) => {
        let above = middle
        let below = middle
        return h(
          'g',
          { key: day },
          h('title', null, `${day}: in ${usd(inflow)}, out ${usd(outflow)}`),
          parts.map(({ name, inflow: into, outflow: out }) => {
            above -= size(into)
            const under = below
            below += size(out)
            const kind = `part-${names.indexOf(name) % 6}`
            const x = at * step + 2
            const width = Math.max(1, step - 4)
            return h(
              'g',
              { key: name, class: kind },
              h('rect', { x, y: above, width, height: size(into) }),
              h('rect', { class: 'out', x, y: under, width, height: size(out) })
            )
          }),
          step > 46
            ? h(
                'text',
                { x: at * step + step / 2, y: HEIGHT - 2, 'text-anchor': 'middle', 'font-size': 10 },
                day.slice(5)
              )
            : null
        )
      })
    ),
    h(
      'ul',
      { class: 'key' },
      names.map((name, at) => h('li', { key: name }, h('span', { class: `swatch part-${at % 6}` }), name))
    )
  )
}
