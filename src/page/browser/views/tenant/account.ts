import { h, type JSX } from 'preact'
import { callOf } from '../../api.ts'
import type { Me } from '../../answers.ts'
import { Bar, Facts, Panel } from '../../elements.ts'
import { originsOf, Value } from '../../explain.ts'
import { count, share } from '../../format.ts'
import { useAnswer } from '../../use-answer.ts'

const REFETCH_MS = 3_000

/** The key in use: its scopes, and how much of its quotas is used. */
export function AccountSection(): JSX.Element {
  const { answer, problem, refetch } = useAnswer<Me>(callOf('/v1/me'), REFETCH_MS)
  if (answer === null)
    return h(Panel, { title: 'Key', id: 'key-title', problem, isLoading: true, onRetry: refetch })
  const { body } = answer
  const from = originsOf(answer)
  const { limits, usage } = body
  const calls = limits.rate_limit_per_minute - usage.remaining
  const work = limits.work_limit_per_minute - usage.work_remaining
  const quota = (name: string, used: number, limit: number, value: JSX.Element): JSX.Element => {
    const pct = (Math.max(0, used) / limit) * 100
    return h(
      'div',
      { class: 'quota' },
      h(
        'p',
        null,
        h('strong', null, name),
        ' ',
        value,
        h('span', { class: 'quiet' }, ` of ${count(limit)} used, ${share(pct)}`)
      ),
      h(Bar, { pct, name: `${name}: ${share(pct)} used` })
    )
  }
  return h(
    'div',
    { class: 'columns' },
    h(
      'div',
      { class: 'main-column' },
      h(
        Panel,
        { title: 'Quota of this minute', id: 'quota-title', problem },
        quota(
          'Calls',
          calls,
          limits.rate_limit_per_minute,
          h(Value, { from: from('usage.remaining', usage.remaining) }, count(calls))
        ),
        quota(
          'Work',
          work,
          limits.work_limit_per_minute,
          h(Value, { from: from('usage.work_remaining', usage.work_remaining) }, count(Math.max(0, work)))
        ),
        h(
          'p',
          { class: 'note' },
          'A unit of work is 10 µs of the event loop. Both windows are clock minutes.'
        )
      )
    ),
    h(
      'div',
      { class: 'side-column' },
      h(
        Panel,
        { title: 'Key', id: 'key-title' },
        h(Facts, {
          rows: [
            ['Tenant', body.tenant],
            ['Name', h('bdi', null, body.name)],
            ['Key', h('code', null, `${body.prefix}…`)],
            ['Expires', body.expires_at ?? 'never'],
            ['Scopes', body.scopes.join(', ')],
            ['Addresses', body.allowed_ips.length === 0 ? 'all' : body.allowed_ips.join(', ')],
            ['Origins', body.cors_origins.length === 0 ? 'none' : body.cors_origins.join(', ')]
          ]
        })
      )
    )
  )
}
