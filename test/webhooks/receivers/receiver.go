package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func isSigned(key []byte, headers http.Header, body []byte) bool {
	timestamp := headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-seconds)) > 300 {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", headers.Get("webhook-id"), timestamp, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, given := range strings.Split(headers.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(expected), []byte(given)) {
			return true
		}
	}
	return false
}

func main() {
	secret := strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_")
	key, err := base64.StdEncoding.DecodeString(secret)
	listener, failure := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil || failure != nil {
		panic(fmt.Sprint(err, failure))
	}
	fmt.Println("listening", listener.Addr())
	http.Serve(listener, http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		var batch struct {
			Events []struct {
				Channel string
				Data    json.RawMessage
			}
		}
		if err != nil || !isSigned(key, request.Header, body) || json.Unmarshal(body, &batch) != nil {
			answer.WriteHeader(400)
			return
		}
		for _, event := range batch.Events {
			fmt.Println(event.Channel, string(event.Data))
		}
		answer.WriteHeader(204)
	}))
}
