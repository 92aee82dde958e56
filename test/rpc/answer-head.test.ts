import t from 'tap'
import { readAnswerHead } from '../../src/rpc/answer-head.ts'

const LENGTH = 'content-length: 12'
const head = (...lines: string[]): string => ['HTTP/1.1 200 OK', ...lines].join('\r\n')

t.test('heads of the usual form', async (t) => {
  const usual: [text: string, expected: object, why: string][] = [
    [head(LENGTH), { status: 200, length: 12, isPersistent: true }, 'a length'],
    [
      head('Content-Type: application/json; charset=utf-8', 'Content-Length:0', 'Date: Mon, 01 Jan 2026'),
      {
        length: 0,
        fields: { 'content-type': 'application/json; charset=utf-8', 'content-length': '0' }
      },
      'names in any case, and no space'
    ],
    [head(LENGTH, 'connection: close'), { isPersistent: false }, 'the last response'],
    [
      head(LENGTH, 'Connection: Keep-Alive', 'x-empty:'),
      { isPersistent: true, fields: { 'x-empty': '' } },
      'persistent'
    ],
    [head(LENGTH, 'content-encoding: gzip'), { fields: { 'content-encoding': 'gzip' } }, 'gzip'],
    [`HTTP/1.1 429 Too Many Requests\r\n${LENGTH}\r\nretry-after: 3`, { status: 429 }, 'another status'],
    [`HTTP/1.1 503\r\n${LENGTH}`, { status: 503 }, 'without a reason phrase']
  ]
  for (const [text, expected, why] of usual) t.match(readAnswerHead(text), expected, why)
})

t.test('heads that are left to a complete client', async (t) => {
  const unusual: [text: string, why: string][] = [
    [head(), 'no length'],
    [head(LENGTH, 'content-length: 12'), 'two lengths'],
    [head(LENGTH, 'Content-Length: 13'), 'two lengths that differ'],
    [head('content-length: 12, 12'), 'a list of lengths'],
    [head('content-length: +12'), 'a sign'],
    [head('content-length: 0x0c'), 'another base'],
    [head('content-length: 012'), 'a leading zero'],
    [head('content-length: 9999999999999999'), 'a length that no number holds'],
    [head('content-length: -1'), 'a negative length'],
    [head('content-length : 12'), 'a space after the name'],
    [head('transfer-encoding: chunked'), 'chunks'],
    [head(LENGTH, 'transfer-encoding: identity'), 'both framings'],
    [head(LENGTH, 'Transfer-Encoding : chunked'), 'both framings, one disguised'],
    [head(LENGTH, ' folded: value'), 'line folding'],
    [head(LENGTH, '\tfolded'), 'line folding by a tab'],
    [head(LENGTH, 'x: a\nb'), 'a bare line feed'],
    [head(LENGTH, 'x: a\rb'), 'a bare carriage return'],
    [head(LENGTH, 'x: a\0b'), 'a zero byte'],
    [head(LENGTH, 'x: caf\u00e9'), 'bytes beyond ASCII'],
    [head(LENGTH, 'no colon'), 'no colon'],
    [head(LENGTH, ': no name'), 'no name'],
    [head(LENGTH, ''), 'an empty line'],
    [head(LENGTH, 'x: 1', 'X: 2'), 'a repeated field'],
    [head(LENGTH, 'trailer: x'), 'trailers'],
    [head(LENGTH, 'upgrade: h2c'), 'an upgrade'],
    [head(LENGTH, 'content-encoding: br'), 'another encoding'],
    [head(LENGTH, 'connection: keep-alive, x'), 'a list of connection options'],
    [`HTTP/1.0 200 OK\r\n${LENGTH}`, 'HTTP/1.0'],
    [`HTTP/2 200\r\n${LENGTH}`, 'HTTP/2'],
    [`http/1.1 200 OK\r\n${LENGTH}`, 'a name in lower case'],
    [`HTTP/1.1  200 OK\r\n${LENGTH}`, 'two spaces'],
    [`HTTP/1.1 20 OK\r\n${LENGTH}`, 'two digits'],
    [`HTTP/1.1 100 Continue\r\n${LENGTH}`, 'an interim response'],
    [`HTTP/1.1 101 Switching Protocols\r\n${LENGTH}`, 'a switch'],
    [`HTTP/1.1 204 No Content\r\n${LENGTH}`, 'a status without a body'],
    [`HTTP/1.1 304 Not Modified\r\n${LENGTH}`, 'not modified'],
    [`\r\nHTTP/1.1 200 OK\r\n${LENGTH}`, 'an empty line before'],
    ['', 'nothing']
  ]
  for (const [text, why] of unusual) t.equal(readAnswerHead(text), null, why)
})
