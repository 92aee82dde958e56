import { h, type JSX } from 'preact'
import { callOf } from './api.ts'
import type { Curve } from './answers.ts'
import { AddressLink, Bar, Facts, Panel } from './elements.ts'
import { originsOf, Value } from './explain.ts'
import { amount, share, usdPrice } from './format.ts'
import { useAnswer } from './use-answer.ts'

const REFETCH_MS = 4_000

/** The bonding curve of a token: how far it is, and what is missing. */
export function CurvePanel({ mint }: { readonly mint: string }): JSX.Element {
  const { answer, problem, refetch } = useAnswer<Curve>(
    callOf('/v1/tokens/{mint}/bonding-curve', { mint }),
    REFETCH_MS
  )
  if (answer === null)
    return h(Panel, { title: 'Bonding curve', id: 'curve-title', problem, isLoading: true, onRetry: refetch })
  const { body } = answer
  const from = originsOf(answer)
  const at = { slot: body.state_slot }
  const { graduation, reserves } = body
  const progress = body.progress_pct
  return h(
    Panel,
    {
      title: 'Bonding curve',
      id: 'curve-title',
      problem,
      tools: h('span', { class: 'venue' }, body.platform)
    },
    h(
      'p',
      { class: 'curve-head' },
      h(
        Value,
        { from: from('progress_pct', progress, at), class: 'large-value' },
        progress === null ? '–' : `${progress.toFixed(1)}%`
      ),
      h('span', { class: 'quiet' }, ` ${body.status}`)
    ),
    progress === null
      ? null
      : h(Bar, { pct: progress, name: `Sold: ${share(progress)}`, class: body.status }),
    h(Facts, {
      rows: [
        [
          'Missing',
          h(
            Value,
            { from: from('graduation.remaining_cash', graduation.remaining_cash, at) },
            `${amount(graduation.remaining_cash)} SOL`
          )
        ],
        [
          'Raised',
          h(
            Value,
            { from: from('reserves.real_cash', reserves.real_cash, at) },
            `${amount(reserves.real_cash)} SOL`
          )
        ],
        [
          'Target',
          h(
            Value,
            { from: from('graduation.target_cash', graduation.target_cash, at) },
            `${amount(graduation.target_cash)} SOL`
          )
        ],
        [
          'Left for sale',
          h(
            Value,
            { from: from('reserves.real_token', reserves.real_token, at) },
            amount(reserves.real_token)
          )
        ],
        [
          'Price on the curve',
          h(Value, { from: from('price_usd', body.price_usd, at) }, usdPrice(body.price_usd))
        ],
        graduation.graduated_at === null
          ? null
          : [
              'Graduated',
              h(
                Value,
                {
                  from: from('graduation.graduated_at', graduation.graduated_at, {
                    slot: graduation.graduated_slot,
                    signature: graduation.graduated_signature
                  })
                },
                graduation.graduated_at
              )
            ],
        graduation.pool === null ? null : ['Pool', h(AddressLink, { view: 'pool', address: graduation.pool })]
      ]
    })
  )
}
