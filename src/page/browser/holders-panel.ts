import { h, type JSX } from 'preact'
import { callOf } from './api.ts'
import type { Holders } from './answers.ts'
import { AddressLink, Bar, Facts, Panel, Table } from './elements.ts'
import { originsOf, Value } from './explain.ts'
import { amount, count, decimal, share, short } from './format.ts'
import { tilesOf, type Tile } from './treemap.ts'
import { linkTo } from './place.ts'
import { useAnswer } from './use-answer.ts'

type Holder = Holders['data'][number]

/** A page of holders costs several calls of the quota, so it is read seldom. */
const REFETCH_MS = 60_000
const HOLDERS_MAX = 100
const WIDTH = 640
const HEIGHT = 300
/** Smallest tile in units of the picture that has room for a text. */
const TEXT_WIDTH_MIN = 46
const TEXT_HEIGHT_MIN = 24

/** The holders of a token, with their concentration as a picture. */
export function HoldersPanel({ mint }: { readonly mint: string }): JSX.Element {
  const { answer, problem, refetch } = useAnswer<Holders>(
    callOf('/v1/tokens/{mint}/holders', { mint }, { limit: HOLDERS_MAX }),
    REFETCH_MS
  )
  if (answer === null)
    return h(Panel, { title: 'Holders', id: 'holders-title', problem, isLoading: true, onRetry: refetch })
  const { body } = answer
  const from = originsOf(answer)
  const at = { slot: body.slot }
  const { concentration } = body
  const shareOf = (field: keyof NonNullable<Holders['concentration']>): JSX.Element | string => {
    const value = concentration?.[field]
    return typeof value === 'number'
      ? h(Value, { from: from(`concentration.${field}`, value, at) }, share(value))
      : '–'
  }
  const adjusted = concentration?.adjusted?.top10_pct ?? null
  return h(
    Panel,
    {
      title: 'Holders',
      id: 'holders-title',
      problem,
      tools: h(
        'span',
        { class: 'note' },
        `exact at slot ${body.slot}`,
        body.stale_reason === null ? '' : ` · ${body.stale_reason}`
      )
    },
    h(
      'div',
      { class: 'holders' },
      h(
        'div',
        null,
        h(Facts, {
          rows: [
            [
              'Holders',
              h(Value, { from: from('holders_count', body.holders_count, at) }, count(body.holders_count))
            ],
            ['Held', h(Value, { from: from('held', body.held, at) }, amount(body.held))],
            ['Largest', shareOf('top1_pct')],
            ['Largest 10', shareOf('top10_pct')],
            [
              '… without pools and curves',
              h(Value, { from: from('concentration.adjusted.top10_pct', adjusted, at) }, share(adjusted))
            ],
            ['Largest 50', shareOf('top50_pct')],
            [
              'Gini',
              h(
                Value,
                { from: from('concentration.gini', concentration?.gini, at) },
                decimal(concentration?.gini)
              )
            ],
            [
              'HHI',
              h(
                Value,
                { from: from('concentration.hhi', concentration?.hhi, at) },
                decimal(concentration?.hhi)
              )
            ]
          ]
        })
      ),
      h(Treemap, { holders: body.data })
    ),
    h(Table<Holder>, {
      name: 'Largest holders',
      columns: [
        { name: '#', isNumber: true, cell: ({ rank }) => rank },
        { name: 'Owner', cell: ({ owner }) => h(AddressLink, { view: 'wallet', address: owner }) },
        { name: '', cell: (holder) => kindOf(holder) },
        {
          name: 'Amount',
          isNumber: true,
          cell: (holder) =>
            h(Value, { from: from('data[].amount', holder.amount, at), isStop: false }, amount(holder.amount))
        },
        {
          name: 'Share',
          isNumber: true,
          cell: (holder) =>
            h(Value, { from: from('data[].pct', holder.pct, at), isStop: false }, share(holder.pct))
        },
        {
          name: ' ',
          isWide: true,
          cell: ({ pct }) => h(Bar, { pct: (pct / body.data[0]!.pct) * 100, name: share(pct) })
        }
      ],
      rows: body.data.slice(0, 30),
      keyOf: ({ rank }) => rank,
      empty: 'Nobody holds this token.'
    })
  )
}

const kindOf = ({ is_pool: isPool, is_curve: isCurve, is_burn: isBurn }: Holder): string =>
  isCurve ? 'curve' : isPool ? 'pool' : isBurn ? 'burned' : ''

/** Each holder as an area: what one owner holds of all. The last tile is everybody else. */
function Treemap({ holders }: { readonly holders: readonly Holder[] }): JSX.Element {
  const others = Math.max(0, 100 - holders.reduce((sum, { pct }) => sum + pct, 0))
  const tiles = tilesOf([...holders.map(({ pct }) => pct), others], WIDTH, HEIGHT)
  const top = holders.slice(0, 10).reduce((sum, { pct }) => sum + pct, 0)
  return h(
    'svg',
    {
      class: 'treemap',
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'img',
      'aria-label': `Concentration: the ten largest hold ${share(top)}, all others beyond the ${holders.length} largest ${share(others)}`
    },
    tiles.map((tile, at) => h(HolderTile, { key: at, tile, holder: holders[at] ?? null, others }))
  )
}

function HolderTile({
  tile,
  holder,
  others
}: {
  readonly tile: Tile
  readonly holder: Holder | null
  readonly others: number
}): JSX.Element {
  const { x, y, width, height } = tile
  const pct = holder?.pct ?? others
  const name = holder === null ? 'all others' : kindOf(holder) || short(holder.owner)
  const kind = holder === null ? 'others' : kindOf(holder) || 'owner'
  const hasText = width >= TEXT_WIDTH_MIN && height >= TEXT_HEIGHT_MIN
  const shape = h(
    'g',
    { class: `tile-${kind}` },
    h('rect', { x: x + 1, y: y + 1, width: Math.max(0, width - 2), height: Math.max(0, height - 2), rx: 3 }),
    h('title', null, `${name}: ${share(pct)}`),
    hasText ? h('text', { x: x + 7, y: y + 16, 'font-size': 11 }, name) : null,
    hasText && height >= 2 * TEXT_HEIGHT_MIN
      ? h('text', { x: x + 7, y: y + 31, 'font-size': 12, 'font-weight': 600 }, share(pct))
      : null
  )
  return holder === null ? shape : h('a', { href: linkTo('wallet', holder.owner), tabIndex: -1 }, shape)
}
