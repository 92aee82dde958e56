import t from 'tap'
import { batchBody } from '../../src/webhooks/body.ts'

const FIELDS = { webhookId: 2 ** 48 - 1, batchId: 'b1', batchTsMs: 1_700, last: 12, dropped: 0, missed: null }
const event = (cursor: number, name: string) => ({
  cursor,
  members: Buffer.from(`"channel":"launches","data":{"name":${JSON.stringify(name)},"cursor":${cursor}}`)
})

t.test('a body is the JSON of the batch, with the events as they are sent on the stream', async (t) => {
  const body = batchBody(FIELDS, [event(7, 'Ünï"cøde'), event(12, 'b')])
  t.equal(
    String(body),
    JSON.stringify({
      webhook_id: 2 ** 48 - 1,
      batch_id: 'b1',
      batch_ts: 1_700,
      cursor: 12,
      events: [
        { channel: 'launches', data: { name: 'Ünï"cøde', cursor: 7 } },
        { channel: 'launches', data: { name: 'b', cursor: 12 } }
      ]
    })
  )
})

t.test('dropped events and unknown ranges are told where there are any', async (t) => {
  const body = batchBody({ ...FIELDS, dropped: 3, missed: { from: 1, to: 6 } }, [event(7, 'a')])
  t.match(JSON.parse(String(body)), { dropped: 3, missed: { from_cursor: 1, to_cursor: 6 } })
})
