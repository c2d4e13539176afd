"""The translation engine: MQTT 3.1.1 and the text protocol of NATS to native messages and back (PS-TRANSLATE)."""
