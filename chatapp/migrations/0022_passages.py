from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("chatapp", "0021_reviews_as_data"),
    ]

    operations = [
        migrations.AddField(
            model_name="note",
            name="item_key",
            field=models.CharField(blank=True, db_default="", default="", max_length=200),
        ),
        migrations.AddField(
            model_name="note",
            name="quote",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="note",
            name="begins",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
    ]
