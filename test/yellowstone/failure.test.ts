import t from 'tap'
import { faultOf } from '../../src/yellowstone/failure.ts'

/** An error as the native client makes it: the server's text is in the last of its causes. */
function nativeError(...said: string[]): Error {
  return said.reduceRight<Error | undefined>(
    (cause, message) => new Error(message, cause === undefined ? undefined : { cause }),
    undefined
  )!
}

function status(text: string, message: string): Error {
  const told = `code: '${text}', message: ${JSON.stringify(message)}`
  return nativeError('failed to open subscribe stream', `gRPC status: ${told}`, told)
}

t.test('each fault of the client has a reason for people and a remedy', async (t) => {
  const rows: [error: unknown, remedy: string, reason: RegExp, more?: object][] = [
    [
      status('Internal error', 'lagged to send an update'),
      'again',
      /^ended the stream because it was read too slowly: lagged to send an update$/
    ],
    [
      status(
        'Operation was attempted past the valid range',
        'Error, decoded message length too large: found 9 bytes, the limit is: 1 bytes'
      ),
      'again',
      /^sends a message above the size limit/,
      { garbage: true }
    ],
    [
      status(
        'Operation was attempted past the valid range',
        'broadcast from 5 is not available, last available: 9'
      ),
      'replay',
      /^no longer has the slot to resume from/,
      { firstSlot: 9 }
    ],
    [
      status('Client specified an invalid argument', 'replay from slot 5: first available slot: 77'),
      'replay',
      /^no longer has the slot/,
      { firstSlot: 77 }
    ],
    [status('Internal error', 'from_slot is not supported'), 'replay', /resume/, { firstSlot: null }],
    [
      status('Some resource has been exhausted', 'too many streams'),
      'again',
      /^has reached its limit of clients: too many/
    ],
    [nativeError('invalid x-token configuration', 'failed to parse metadata value'), 'never', /characters/],
    [
      nativeError('failed to connect', 'transport error', 'tcp connect error', 'Connection refused'),
      'again',
      /reached/
    ],
    [nativeError('what nobody knows'), 'again', /^ended the stream: what nobody knows$/],
    ['not even an error', 'again', /^ended the stream: not even an error$/]
  ]
  for (const [error, remedy, reason, more = {}] of rows)
    t.match(
      faultOf(error, (text) => text),
      { remedy, reason, ...more }
    )
})

t.test('a reason contains no secret and has a limited length', async (t) => {
  const error = status('Internal error', `the token s3cret of ${'x'.repeat(5_000)}`)
  const fault = faultOf(error, (text) => text.replace('s3cret', '********'))
  t.match(fault.reason, /the token \*{8} of xxx/)
  t.ok(fault.reason.length < 400)
})
